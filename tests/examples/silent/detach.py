# shared_memory at 6: snapshot, x
import torch
x = torch.ones(3, requires_grad=True)
snapshot = x.detach()
with torch.no_grad():
    x += 1
print(snapshot)
