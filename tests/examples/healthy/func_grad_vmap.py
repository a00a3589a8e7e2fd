import torch
from torch.func import grad, vmap
torch.manual_seed(0)
w = torch.randn(3)
def loss(w, x, y):
    return (x @ w - y) ** 2
xs, ys = torch.randn(4, 3), torch.randn(4)
per_sample = vmap(grad(loss), in_dims=(None, 0, 0))(w, xs, ys)
print(per_sample.shape)
