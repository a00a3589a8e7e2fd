"""Model-agnostic meta-learning: an inner update that keeps its graph, an outer step through it."""
import torch
import torch.nn.functional as F

torch.manual_seed(0)
params = {"w1": torch.randn(1, 8) * 0.5, "b1": torch.zeros(8), "w2": torch.randn(8, 1) * 0.5, "b2": torch.zeros(1)}
for p in params.values():
    p.requires_grad_()


def forward(x, params):
    h = torch.tanh(x @ params["w1"] + params["b1"])
    return h @ params["w2"] + params["b2"]


def sample_task(g):
    amplitude, phase = torch.rand(2, generator=g)
    x = torch.rand(6, 1, generator=g) * 4 - 2
    return x, (amplitude + 0.5) * torch.sin(x + phase)


meta_optimizer = torch.optim.Adam(params.values(), lr=0.01)
g = torch.Generator().manual_seed(0)
inner_lr = 0.1
for iteration in range(2):
    meta_loss = 0.0
    for task in range(2):
        x, y = sample_task(g)
        support_loss = F.mse_loss(forward(x[:3], params), y[:3])
        grads = torch.autograd.grad(support_loss, params.values(), create_graph=True)
        fast = {name: p - inner_lr * grad for (name, p), grad in zip(params.items(), grads)}
        meta_loss = meta_loss + F.mse_loss(forward(x[3:], fast), y[3:])
    meta_optimizer.zero_grad()
    meta_loss.backward()
    meta_optimizer.step()
    print(iteration, f"{meta_loss.item():.4f}", f"{params['w1'].grad.norm().item():.4f}")
