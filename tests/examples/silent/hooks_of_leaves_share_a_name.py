# hook_keeps_last at 8: name
import torch

torch.manual_seed(0)
weights = {"a": torch.randn(3, requires_grad=True), "b": torch.randn(3, requires_grad=True)}
seen = []
for name, w in weights.items():
    w.register_hook(lambda grad: seen.append((name, grad.norm().item())))
(weights["a"] * weights["b"]).sum().backward()
print(seen)
