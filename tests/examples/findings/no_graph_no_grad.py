# no_graph: out
import torch
net = torch.nn.Linear(2, 1)
with torch.no_grad():
    out = net(torch.ones(1, 2))  # cause
out.sum().backward()
