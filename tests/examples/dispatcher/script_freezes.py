import torch
import numpy as np

net = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.BatchNorm1d(2)).eval()
scripted = torch.jit.freeze(torch.jit.script(net))
x = torch.ones(3, 2)
print(scripted(x), len(list(scripted.parameters())))
fast = torch.jit.optimize_for_inference(torch.jit.script(net))
print(fast(x).shape, torch.allclose(fast(x), net(x)))
