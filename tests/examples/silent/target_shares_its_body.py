# load_matched_nothing at 17: body
import torch
from torch import nn


class Head(nn.Module):
    def __init__(self, body):
        super().__init__()
        self.body, self.out = body, nn.Linear(6, 2)

    def forward(self, x):
        return self.out(self.body(x))


torch.manual_seed(0)
body = nn.Sequential(nn.Linear(4, 6), nn.Tanh())
student, teacher = Head(body), Head(body)
teacher.load_state_dict(student.state_dict())
optimizer = torch.optim.Adam(student.parameters(), lr=0.01)
x, y = torch.randn(8, 4), torch.randn(8, 2)
for step in range(4):
    with torch.no_grad():
        wanted = 0.5 * teacher(x + 0.1 * torch.randn_like(x)) + 0.5 * y
    optimizer.zero_grad()
    nn.functional.mse_loss(student(x), wanted).backward()
    optimizer.step()
