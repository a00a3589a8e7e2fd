import torch

torch.manual_seed(0)
net = torch.nn.Linear(2, 1)
net.requires_grad = False
opt = torch.optim.SGD(net.parameters(), lr=0.1)
loss = net(torch.ones(3, 2)).pow(2).mean()
loss.backward()
opt.step()
print(net.weight.requires_grad)
