import torch
import numpy as np

from torch.profiler import profile, ProfilerActivity
x = torch.ones(4, 4, requires_grad=True)
with profile(activities=[ProfilerActivity.CPU]) as prof:
    y = x @ x
    z = y.t() + 1
    for k in range(3):
        z = z * k
    z.sum().backward()
print(sorted((e.key, e.count) for e in prof.key_averages()))
