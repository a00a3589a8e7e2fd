import torch

torch.manual_seed(0)
net = torch.nn.Linear(3, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for i, x in enumerate(torch.randn(8, 2, 3)):
    loss = (net(x) - 1).pow(2).mean()
    loss.backward()
    if i % 4 == 3:
        print(net.weight.grad.norm())
        opt.step()
        opt.zero_grad()
