import torch
import numpy as np

w = torch.ones(3, 3, requires_grad=True)
x = torch.ones(2, 3)
with torch.autocast("cpu", dtype=torch.bfloat16):
    a = x @ w
    with torch.no_grad():
        w.mul_(2)
    b = x @ w
    torch.clear_autocast_cache()
    c = x @ w
print(a, b, c)
(a + b + c).float().sum().backward()
print(w.grad)
scaler = torch.amp.GradScaler("cpu", enabled=True)
opt = torch.optim.SGD([w], 0.1)
for _ in range(2):
    opt.zero_grad()
    with torch.autocast("cpu", dtype=torch.bfloat16, cache_enabled=False):
        loss = (x @ w).sum()
    scaler.scale(loss).backward()
    scaler.step(opt)
    scaler.update()
print(w, scaler.get_scale())
