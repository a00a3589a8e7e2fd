import torch

torch.manual_seed(0)
net = torch.nn.Linear(2, 1)
scale = torch.nn.Parameter(torch.tensor(2.0))
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for parameter in net.parameters():
    parameter.requires_grad = False
for step in range(3):
    loss = (scale * net(torch.ones(3, 2))).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    print(loss.item())
