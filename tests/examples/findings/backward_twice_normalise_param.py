# backward_twice: w
import torch
w = torch.randn(3, requires_grad=True)
opt = torch.optim.Adam([w], lr=0.1)
for i in range(3):
    loss = (w.sum() - 1) ** 2
    opt.zero_grad()
    loss.backward()
    opt.step()
    w = w / w.norm()  # cause
print(w)
