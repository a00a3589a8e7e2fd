import torch

w = torch.nn.Parameter(torch.ones(3))
opt = torch.optim.SGD([w], lr=1.0)
for step in range(3):
    opt.zero_grad()
    loss = (w * 10).pow(2).sum()
    torch.nn.utils.clip_grad_norm_([w], 1.0)
    loss.backward()
    opt.step()
    print(w.abs().max().item())
