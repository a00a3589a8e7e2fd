import torch

torch.manual_seed(0)
net = torch.nn.Linear(2, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
x, y = torch.ones(4, 2), torch.zeros(4, 1)
for step in range(2):
    fit = (net(x) - y).pow(2).mean()
    penalty = sum(p.data.abs().sum() for p in net.parameters())
    loss = fit + 0.1 * penalty
    opt.zero_grad()
    loss.backward()
    opt.step()
    print(fit.item(), penalty.item())
