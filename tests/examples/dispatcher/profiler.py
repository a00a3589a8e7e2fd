import torch
import numpy as np

from torch.profiler import ProfilerActivity, profile, record_function
net = torch.nn.Linear(2, 2)
with profile(activities=[ProfilerActivity.CPU], record_shapes=True) as prof:
    with record_function("mine"):
        net(torch.ones(3, 2)).relu().sum().backward()
names = {e.key: e.count for e in prof.key_averages()}
print({k: names.get(k) for k in ("mine", "aten::linear", "aten::relu", "aten::sum", "aten::addmm", "aten::t")})
with torch.autograd.profiler.profile() as prof:
    torch.ones(2) + 1
print([e.key for e in prof.key_averages() if e.key == "aten::add"])
