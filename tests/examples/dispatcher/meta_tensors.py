import torch
import numpy as np

with torch.device("meta"):
    net = torch.nn.Linear(3, 2)
out = net(torch.ones(4, 3, device="meta"))
out.sum().backward()
print(out, net.weight.grad, net.weight.grad.shape)
net = net.to_empty(device="cpu")
torch.nn.init.ones_(net.weight)
torch.nn.init.zeros_(net.bias)
net.zero_grad()
print(net.weight, torch.empty(2, device="meta").is_meta)
