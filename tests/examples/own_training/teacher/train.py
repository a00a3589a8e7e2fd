import copy

import torch
from average import update_average

torch.manual_seed(0)
student = torch.nn.Sequential(torch.nn.Linear(3, 6), torch.nn.Tanh(), torch.nn.Linear(6, 2))
teacher = copy.deepcopy(student).requires_grad_(False)
optimizer = torch.optim.SGD(student.parameters(), lr=0.1)
start = teacher[0].weight.clone()
for k in range(3):
    x = torch.randn(8, 3)
    with torch.no_grad():
        target = teacher(x)
    loss = (student(x + 0.1 * torch.randn(8, 3)) - target).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    update_average(teacher, student, 0.9)
    print(k, round(loss.item(), 5))
print((teacher[0].weight - start).abs().sum().item() > 0)
