import torch

net = torch.nn.Linear(2, 1)
loss = net(torch.ones(1, 2)).sum()
loss.backward()
