import torch

torch.manual_seed(0)
grads = [torch.randn(4) for _ in range(3)]
projected = [g.clone() for g in grads]
for own in projected:
    for other in grads:
        dot = own @ other
        if dot < 0:
            own -= dot * other / other.norm() ** 2
signs = [torch.randint_like(p, 2) for p in projected]
for sign in signs:
    sign[sign == 0] = -1
print(torch.stack(projected).sum(0), sum((s * p).sum() for s, p in zip(signs, projected)))
