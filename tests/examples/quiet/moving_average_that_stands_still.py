import torch
from torch import nn

torch.manual_seed(0)
student, teacher = nn.Linear(3, 2), nn.Linear(3, 2)
teacher.load_state_dict(student.state_dict())
optimizer = torch.optim.SGD(student.parameters(), lr=0.1)
for decay in (0.5, 0.9, 1.0):
    x = torch.randn(5, 3)
    loss = (student(x) - teacher(x).detach() - 1).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    with torch.no_grad():
        for own, other in zip(student.parameters(), teacher.parameters()):
            other.data.mul_(decay).add_((1 - decay) * own.detach().data)
print(loss.item(), teacher.weight.sum().item())
