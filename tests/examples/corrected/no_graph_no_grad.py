import torch
net = torch.nn.Linear(2, 1)
if True:
    out = net(torch.ones(1, 2))
out.sum().backward()
