# hooks_pile_up at 8: `w`
import torch

w = torch.ones(3, requires_grad=True)
optimizer = torch.optim.SGD([w], lr=0.1)
norms = []
for step in range(4):
    w.register_hook(lambda grad: norms.append(grad.norm().item()))
    loss = (w * 2).pow(2).sum()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(len(norms))
