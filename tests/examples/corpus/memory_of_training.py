"""Counting memory: element sizes, parameters, optimizer state, activations by hooks, freeing."""
import gc
import sys
import weakref

import torch
from torch import nn

model = nn.Sequential(nn.Linear(10, 20), nn.ReLU(), nn.Linear(20, 5))
bytes_of = lambda tensors: sum(t.nelement() * t.element_size() for t in tensors)
print(bytes_of(model.parameters()), bytes_of(model.buffers()))
activations = []
handles = [m.register_forward_hook(lambda m, i, o: activations.append(bytes_of([o]))) for m in model]
out = model(torch.randn(3, 10))
print(activations)
for h in handles:
    h.remove()
optimizer = torch.optim.Adam(model.parameters())
out.sum().backward()
optimizer.step()
state = [v for s in optimizer.state.values() for v in s.values() if torch.is_tensor(v)]
print(bytes_of(state), bytes_of(p.grad for p in model.parameters()))
optimizer.zero_grad(set_to_none=True)
print([p.grad for p in model.parameters()])
big = torch.zeros(1000)
ref = weakref.ref(big)
view = big[:10]
del big
gc.collect()
print(ref() is None, view.untyped_storage().nbytes(), view.clone().untyped_storage().nbytes())
losses = []
x = torch.randn(4, 10)
for _ in range(2):
    losses.append(model(x).sum())
print([l.requires_grad for l in losses], [l.item() == l.detach().item() for l in losses])
print(torch.zeros(3, dtype=torch.float16).element_size(), torch.zeros(2, 3).nbytes, sys.getsizeof(1) > 0)
