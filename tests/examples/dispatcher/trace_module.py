import torch
import numpy as np

net = torch.nn.Sequential(torch.nn.Linear(2, 4), torch.nn.ReLU(), torch.nn.Dropout(0.5), torch.nn.Linear(4, 1))
net.eval()
x = torch.ones(3, 2)
traced = torch.jit.trace(net, x)
print(traced.graph, traced.code, traced(x), torch.equal(traced(x), net(x)))
class Both(torch.nn.Module):
    def forward(self, x):
        return x + 1
    def other(self, x):
        return x * x.shape[0]
both = torch.jit.trace_module(Both(), {"forward": torch.ones(2), "other": torch.ones(2)})
print(both.other(torch.ones(3)), both.code)
