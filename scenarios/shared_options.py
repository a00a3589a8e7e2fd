import torch

net = torch.nn.Linear(2, 1)
groups = [{"params": list(net.parameters()), "weight_decay": 0.1}]
slow = torch.optim.SGD(groups, lr=0.001)
fast = torch.optim.SGD(groups, lr=0.5)

print(slow.param_groups[0]["lr"], fast.param_groups[0]["lr"])
for opt in (slow, fast):
    opt.zero_grad()
    net(torch.ones(1, 2)).sum().backward()
    opt.step()
