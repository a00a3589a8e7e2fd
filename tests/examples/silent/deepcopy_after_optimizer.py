# parameter_detached at 8: student
import copy
import torch
from torch import nn
torch.manual_seed(0)
teacher = nn.Linear(2, 1)
opt = torch.optim.SGD(teacher.parameters(), lr=0.1)
student = copy.deepcopy(teacher)
for _ in range(2):
    opt.zero_grad()
    loss = student(torch.ones(3, 2)).pow(2).mean()
    loss.backward()
    opt.step()
    print(loss)
