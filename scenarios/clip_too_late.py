import torch

w = torch.nn.Parameter(torch.ones(3))
opt = torch.optim.SGD([w], lr=1.0)
for step in range(3):
    loss = (w * 10).pow(2).sum()
    opt.zero_grad()
    loss.backward()
    opt.step()
    torch.nn.utils.clip_grad_norm_([w], 1.0)
    print(w.abs().max().item())
