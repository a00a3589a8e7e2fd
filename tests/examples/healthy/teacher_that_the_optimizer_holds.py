import torch
from torch import nn


class Distiller(nn.Module):
    def __init__(self, student, teacher):
        super().__init__()
        self.student, self.teacher = student, teacher

    def forward(self, x, y):
        with torch.no_grad():
            soft = self.teacher(x).softmax(1)
        out = self.student(x)
        return nn.functional.cross_entropy(out, y) + nn.functional.kl_div(out.log_softmax(1), soft, reduction="batchmean")


torch.manual_seed(0)
distiller = Distiller(nn.Linear(4, 3), nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 3)))
optimizer = torch.optim.Adam(distiller.parameters(), lr=0.01)
for _ in range(3):
    loss = distiller(torch.randn(6, 4), torch.randint(0, 3, (6,)))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(loss.item())
