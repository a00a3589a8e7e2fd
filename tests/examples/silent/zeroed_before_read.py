# grad_none at 9: w
import torch
w = torch.ones(2, requires_grad=True)
opt = torch.optim.Adam([w])
for i in range(2):
    loss = (w * 3).sum()
    loss.backward()
    opt.step()
    opt.zero_grad()
    print(w.grad)
