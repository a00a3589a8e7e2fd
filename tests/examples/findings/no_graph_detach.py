# no_graph: pred loss
import torch
net = torch.nn.Linear(2, 1)
pred = net(torch.ones(3, 2)).detach()  # cause
loss = (pred - 1).pow(2).mean()
loss.backward()
