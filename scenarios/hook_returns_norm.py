import torch


def watch(grad):
    norm = grad.norm()
    print(norm)
    return norm


w = torch.ones(3, requires_grad=True)
h = w * 2
h.register_hook(watch)
h.sum().backward()
