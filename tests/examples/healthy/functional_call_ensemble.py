import torch
from torch import nn
from torch.func import functional_call
torch.manual_seed(0)
model = nn.Linear(2, 1)
params = {name: p.detach().clone().requires_grad_() for name, p in model.named_parameters()}
x, y = torch.randn(5, 2), torch.randn(5, 1)
for _ in range(3):
    loss = (functional_call(model, params, (x,)) - y).pow(2).mean()
    grads = torch.autograd.grad(loss, list(params.values()))
    params = {name: (p - 0.1 * g).detach().requires_grad_() for (name, p), g in zip(params.items(), grads)}
print(loss.item())
