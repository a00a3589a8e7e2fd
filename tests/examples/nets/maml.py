import torch
import torch.nn.functional as F
from torch import nn
from torch.func import functional_call

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(1, 6), nn.Tanh(), nn.Linear(6, 1))
meta = torch.optim.Adam(model.parameters(), lr=1e-3)


def sine_task():
    amplitude, phase = torch.rand(1) * 4 + 1, torch.rand(1) * 3
    x = torch.rand(8, 1) * 10 - 5
    return x, amplitude * torch.sin(x + phase)


def adapt(parameters, x, y, lr=0.01):
    loss = F.mse_loss(functional_call(model, parameters, (x,)), y)
    grads = torch.autograd.grad(loss, list(parameters.values()), create_graph=True)
    return {name: p - lr * g for (name, p), g in zip(parameters.items(), grads)}


for iteration in range(2):
    total = 0.0
    for task in range(2):
        x, y = sine_task()
        fast = adapt(dict(model.named_parameters()), x[:4], y[:4])
        total = total + F.mse_loss(functional_call(model, fast, (x[4:],)), y[4:])
    meta.zero_grad()
    total.backward()
    meta.step()
