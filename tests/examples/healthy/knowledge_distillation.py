import torch
from torch import nn
import torch.nn.functional as F
torch.manual_seed(0)
teacher, student = nn.Linear(3, 4).eval(), nn.Linear(3, 4)
opt = torch.optim.SGD(student.parameters(), lr=0.1)
x, y = torch.randn(5, 3), torch.randint(0, 4, (5,))
for _ in range(2):
    with torch.no_grad():
        soft = F.softmax(teacher(x) / 2, 1)
    logits = student(x)
    loss = F.kl_div(F.log_softmax(logits / 2, 1), soft, reduction="batchmean") * 4 + F.cross_entropy(logits, y)
    opt.zero_grad()
    loss.backward()
    opt.step()
