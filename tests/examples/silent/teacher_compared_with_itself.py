# term_moves_nothing at 16: soft_loss, loss
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
teacher, student = nn.Linear(6, 4), nn.Linear(6, 4)
optimizer = torch.optim.Adam(student.parameters(), lr=1e-2)
for step in range(3):
    x, labels = torch.randn(8, 6), torch.randint(0, 4, (8,))
    with torch.no_grad():
        wanted = teacher(x)
    scores = student(x)
    target = F.softmax(wanted / 2, dim=1)
    given = F.log_softmax(wanted / 2, dim=1)
    soft_loss = F.kl_div(given, target, reduction="sum")
    loss = F.cross_entropy(scores, labels) + soft_loss
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
