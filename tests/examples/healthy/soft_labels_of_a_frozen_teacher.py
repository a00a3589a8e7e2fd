import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
teacher = nn.Linear(5, 3)
student = nn.Sequential(nn.Linear(5, 4), nn.ReLU(), nn.Linear(4, 3))
optimizer = torch.optim.Adam(student.parameters(), lr=1e-2)
x, y = torch.randn(9, 5), torch.arange(9) % 3
T = 3.0
for step in range(3):
    with torch.no_grad():
        soft = F.softmax(teacher(x) / T, dim=1)
    scores = student(x)
    distill = F.kl_div(F.log_softmax(scores / T, dim=1), soft, reduction="batchmean") * T * T
    loss = 0.5 * distill + 0.5 * F.cross_entropy(scores, y, label_smoothing=0.1)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
