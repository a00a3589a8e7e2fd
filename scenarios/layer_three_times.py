import torch

torch.manual_seed(0)
net = torch.nn.Sequential(*[torch.nn.Linear(2, 2)] * 3)
print(len(net), len(list(net.parameters())))

net(torch.ones(1, 2)).sum().backward()
print(net[0].weight is net[2].weight)
