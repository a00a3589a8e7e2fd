import torch
w = torch.randn(3, 3, requires_grad=True)
h = torch.zeros(3)
opt = torch.optim.SGD([w], lr=.1)
total = 0.
for t in range(4):
    h = torch.tanh(w @ h + 1)
    loss = h.sum()
    h.detach_()
    loss.backward()
    opt.step(); opt.zero_grad()
