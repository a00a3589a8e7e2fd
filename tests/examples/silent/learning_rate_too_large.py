# nonfinite at 8: w
import torch
w = torch.tensor([1.0], requires_grad=True)
opt = torch.optim.SGD([w], lr=10.0)
for _ in range(9):
    opt.zero_grad()
    (w ** 4).sum().backward()
    opt.step()
