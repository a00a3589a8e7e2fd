import torch

w = torch.nn.Parameter(torch.ones(3))
opt = torch.optim.SGD([w], lr=0.1)
scaler = torch.amp.GradScaler("cpu", init_scale=1024.0)
for step in range(3):
    opt.zero_grad()
    loss = w.pow(2).sum()
    scaler.scale(loss).backward()
    torch.nn.utils.clip_grad_norm_([w], 1.0)
    scaler.step(opt)
    scaler.update()
    print(w[0].item())
