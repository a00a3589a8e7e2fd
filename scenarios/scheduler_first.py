import torch

w = torch.nn.Parameter(torch.ones(2))
opt = torch.optim.SGD([w], lr=1.0)
scheduler = torch.optim.lr_scheduler.ExponentialLR(opt, gamma=0.1)
for epoch in range(3):
    scheduler.step()
    opt.zero_grad()
    w.sum().backward()
    opt.step()
    print(w[0].item())
