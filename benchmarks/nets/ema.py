import copy
import torch
import torch.nn as nn

torch.manual_seed(0)
student = nn.Linear(2, 2)
teacher = copy.deepcopy(student)
for p in teacher.parameters():
    p.requires_grad_(False)
opt = torch.optim.SGD(student.parameters(), lr=0.1)
x = torch.randn(3, 2)
for step in range(2):
    with torch.no_grad():
        goal = teacher(x)
    loss = (student(x) - goal - 1).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    with torch.no_grad():
        for t, s in zip(teacher.parameters(), student.parameters()):
            t.mul_(0.9).add_(s, alpha=0.1)
