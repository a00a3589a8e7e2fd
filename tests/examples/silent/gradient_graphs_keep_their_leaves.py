# memory_held at 7: w, w.grad
import torch


def curvature(n):
    w = torch.randn(n, requires_grad=True)
    (w ** 3).sum().backward(create_graph=True)
    return w.grad.pow(2).sum().item()


for k in range(3):
    print(curvature(50))
