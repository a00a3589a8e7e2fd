import torch

w = torch.nn.Parameter(torch.ones(3))
opt = torch.optim.SGD([w], lr=0.1)
for batch in range(4):
    opt.zero_grad()
    loss = (w * (batch + 1)).sum()
    loss.backward()
    if batch % 2 == 1:
        opt.step()
    print(w[0].item())
