import torch

net = torch.nn.Linear(2, 1, bias=False)
torch.nn.init.ones_(net.weight)
opt = torch.optim.SGD(net.parameters(), lr=0.5)
loss = net(torch.tensor([1.0, 2.0])).sum()
loss.backward()
opt.step()
opt.zero_grad()
