# scheduler_first at 8: opt, sched.step()
import torch
torch.manual_seed(0)
net = torch.nn.Linear(2, 1)
opt = torch.optim.SGD(net.parameters(), lr=1.0, momentum=0.9)
sched = torch.optim.lr_scheduler.MultiStepLR(opt, milestones=[1, 3])
for epoch in range(4):
    sched.step()
    for x in torch.randn(2, 3, 2):
        opt.zero_grad()
        net(x).pow(2).mean().backward()
        opt.step()
