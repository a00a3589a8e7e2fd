# saved_overwritten: ret
import torch
torch.manual_seed(0)
decay = torch.tensor(0.9, requires_grad=True)
r = torch.rand(4)
ret = torch.zeros(5)
for t in reversed(range(4)):
    ret[t] = r[t] + decay * ret[t + 1]  # cause
ret.sum().backward()
print(decay.grad)
