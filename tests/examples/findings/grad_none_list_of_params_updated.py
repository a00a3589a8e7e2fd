# grad_none: params
import torch
torch.manual_seed(0)
params = [torch.randn(2, 2, requires_grad=True), torch.randn(2, requires_grad=True)]
x = torch.ones(3, 2)
for epoch in range(2):
    y = x @ params[0] + params[1]
    loss = y.pow(2).mean()
    loss.backward()
    params = [p - 0.1 * p.grad for p in params]  # cause
