import torch

torch.manual_seed(0)
net = torch.nn.Linear(2, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
x = torch.ones(4, 2)
for epoch in range(3):
    loss = net(x).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    print(loss.item())
