import torch
import torch.nn.functional as F
from torch import nn
torch.manual_seed(0)
teacher = nn.Sequential(nn.Linear(3, 16), nn.BatchNorm1d(16), nn.ReLU(), nn.Linear(16, 3)).eval()
student = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4), nn.ReLU(), nn.Linear(4, 3))
optimizer = torch.optim.Adam(student.parameters(), lr=0.01)
for _ in range(3):
    x = torch.randn(8, 3)
    with torch.no_grad():
        soft = (teacher(x) / 2).softmax(1)
    loss = F.kl_div((student(x) / 2).log_softmax(1), soft, reduction="batchmean") * 4
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
