import torch
from torch import nn
class SAM(torch.optim.Optimizer):
    def __init__(self, params, base, rho=0.05, **kwargs):
        super().__init__(params, dict(rho=rho, **kwargs))
        self.base = base(self.param_groups, **kwargs)
    @torch.no_grad()
    def first_step(self):
        grads = [p.grad.norm() for g in self.param_groups for p in g["params"] if p.grad is not None]
        scale = self.param_groups[0]["rho"] / (torch.stack(grads).norm() + 1e-12)
        for g in self.param_groups:
            for p in g["params"]:
                self.state[p]["move"] = p.grad * scale
                p.add_(self.state[p]["move"])
        self.zero_grad()
    @torch.no_grad()
    def second_step(self):
        for g in self.param_groups:
            for p in g["params"]:
                p.sub_(self.state[p]["move"])
        self.base.step()
        self.zero_grad()
torch.manual_seed(0)
net = nn.Linear(3, 1)
opt = SAM(net.parameters(), torch.optim.SGD, lr=0.1)
x, y = torch.randn(8, 3), torch.randn(8, 1)
for _ in range(3):
    (net(x) - y).pow(2).mean().backward()
    opt.first_step()
    (net(x) - y).pow(2).mean().backward()
    opt.second_step()
