# same_module at 7: `teacher`, `student`
import torch
from torch import nn

torch.manual_seed(0)
student, head = nn.Sequential(nn.Linear(4, 6), nn.ReLU(), nn.Linear(6, 2)), nn.Linear(2, 2)
teacher = student
for parameter in teacher.parameters():
    parameter.requires_grad = False
opt = torch.optim.SGD([*student.parameters(), *head.parameters()], lr=0.1)
x, y = torch.randn(12, 4), torch.randint(0, 2, (12,))
for _ in range(3):
    loss = nn.functional.cross_entropy(head(student(x)), y) + nn.functional.mse_loss(student(x), teacher(x))
    opt.zero_grad()
    loss.backward()
    opt.step()
