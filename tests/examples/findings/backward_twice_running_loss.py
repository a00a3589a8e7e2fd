# backward_twice: total
import torch
torch.manual_seed(0)
net = torch.nn.Linear(2, 1)
total = 0
for k in range(3):
    total = total + net(torch.rand(4, 2)).pow(2).mean()  # cause
    total.backward()  # cause
