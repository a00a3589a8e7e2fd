# parameter_detached at 13: p
import torch
from torch import nn

torch.manual_seed(0)
student, teacher = nn.Linear(2, 1), nn.Linear(2, 1)
optimizer = torch.optim.SGD(student.parameters(), lr=0.1)
for step in range(2):
    student(torch.ones(1, 2)).sum().backward()
    optimizer.step()
    optimizer.zero_grad()
    for q, p in zip(student.parameters(), teacher.parameters()):
        p = 0.9 * p.detach() + 0.1 * q.detach()
print(teacher.weight)
