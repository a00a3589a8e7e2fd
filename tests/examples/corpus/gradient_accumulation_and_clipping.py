"""Accumulating gradients over micro-batches gives the gradient of the whole batch; then norms and clipping."""
import copy

import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 1))
twin = copy.deepcopy(model)
x, y = torch.randn(8, 4), torch.randn(8, 1)
loss = nn.functional.mse_loss(twin(x), y)
loss.backward()
accumulation_steps = 4
for i, (xb, yb) in enumerate(zip(x.chunk(accumulation_steps), y.chunk(accumulation_steps))):
    partial = nn.functional.mse_loss(model(xb), yb) / accumulation_steps
    partial.backward()
for (name, p), q in zip(model.named_parameters(), twin.parameters()):
    print(name, torch.allclose(p.grad, q.grad, atol=1e-6))
total_norm = torch.nn.utils.clip_grad_norm_(model.parameters(), max_norm=0.1)
print(f"{total_norm:.4f}", f"{torch.cat([p.grad.flatten() for p in model.parameters()]).norm():.4f}")
torch.nn.utils.clip_grad_value_(model.parameters(), clip_value=0.02)
print(max(p.grad.abs().max().item() for p in model.parameters()) <= 0.02)
manual = torch.sqrt(sum((p.grad ** 2).sum() for p in twin.parameters()))
print(torch.allclose(manual, torch.nn.utils.get_total_norm([p.grad for p in twin.parameters()])))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for epoch in range(2):
    optimizer.zero_grad()
    for i in range(4):
        out = model(x[2 * i:2 * i + 2])
        l = nn.functional.mse_loss(out, y[2 * i:2 * i + 2]) / 2
        l.backward()
        if (i + 1) % 2 == 0:
            optimizer.step()
            optimizer.zero_grad()
    print(epoch, f"{nn.functional.mse_loss(model(x), y).item():.4f}")
vector = torch.nn.utils.parameters_to_vector(model.parameters())
torch.nn.utils.vector_to_parameters(torch.zeros_like(vector), model.parameters())
print(vector.shape, model[2].bias)
