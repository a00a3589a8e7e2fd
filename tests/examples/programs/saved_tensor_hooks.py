# The program's own pack and unpack around what is saved.
import torch
log = []
def pack(t):
    log.append(("pack", tuple(t.shape)))
    return t.detach().clone()
def unpack(t):
    log.append("unpack")
    return t
x = torch.tensor([1.0, 2.0], requires_grad=True)
with torch.autograd.graph.saved_tensors_hooks(pack, unpack):
    y = x * x * 2
y.sum().backward()
print(log, x.grad)
