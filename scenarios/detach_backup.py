import torch

w = torch.tensor([1.0, 2.0], requires_grad=True)
best = w.detach()
kept = w.detach().clone()

(w * w).sum().backward()
with torch.no_grad():
    w -= 2 * w.grad

print(best)
print(kept)
holds = best.tolist() == [1.0, 2.0]
