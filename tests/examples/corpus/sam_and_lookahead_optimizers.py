"""Optimisers that people write themselves: SAM with two passes, Lookahead, AdamW from scratch, gradient centralisation."""

import math
from collections import defaultdict

import torch
from torch import nn
from torch.optim import Optimizer

torch.manual_seed(0)


class SAM(Optimizer):
    def __init__(self, params, base_optimizer, rho=0.05, **kwargs):
        super().__init__(params, dict(rho=rho, **kwargs))
        self.base_optimizer = base_optimizer(self.param_groups, **kwargs)
        self.param_groups = self.base_optimizer.param_groups

    @torch.no_grad()
    def first_step(self, zero_grad=False):
        norms = [p.grad.norm(p=2) for g in self.param_groups for p in g["params"] if p.grad is not None]
        norm = torch.norm(torch.stack(norms), p=2)
        for group in self.param_groups:
            scale = group["rho"] / (norm + 1e-12)
            for p in group["params"]:
                if p.grad is None:
                    continue
                self.state[p]["old_p"] = p.data.clone()
                p.add_(p.grad * scale.to(p))
        if zero_grad:
            self.zero_grad()

    @torch.no_grad()
    def second_step(self, zero_grad=False):
        for group in self.param_groups:
            for p in group["params"]:
                if p.grad is not None:
                    p.data = self.state[p]["old_p"]
        self.base_optimizer.step()
        if zero_grad:
            self.zero_grad()

    @torch.no_grad()
    def step(self, closure=None):
        closure = torch.enable_grad()(closure)
        self.first_step(zero_grad=True)
        closure()
        self.second_step()


class Lookahead:
    def __init__(self, optimizer, k=2, alpha=0.5):
        self.optimizer, self.k, self.alpha, self.counter = optimizer, k, alpha, 0
        self.slow = [[p.clone().detach() for p in g["params"]] for g in optimizer.param_groups]

    def zero_grad(self):
        self.optimizer.zero_grad()

    def step(self):
        self.optimizer.step()
        self.counter += 1
        if self.counter % self.k == 0:
            for group, slow in zip(self.optimizer.param_groups, self.slow):
                for p, q in zip(group["params"], slow):
                    q += self.alpha * (p.data - q)
                    p.data.copy_(q)


class MyAdamW(Optimizer):
    def __init__(self, params, lr=1e-2, betas=(0.9, 0.999), eps=1e-8, weight_decay=1e-2, centralise=False):
        super().__init__(params, dict(lr=lr, betas=betas, eps=eps, weight_decay=weight_decay, centralise=centralise))

    @torch.no_grad()
    def step(self, closure=None):
        for group in self.param_groups:
            b1, b2 = group["betas"]
            for p in group["params"]:
                if p.grad is None:
                    continue
                g = p.grad
                if group["centralise"] and g.dim() > 1:
                    g = g - g.mean(dim=tuple(range(1, g.dim())), keepdim=True)
                state = self.state[p]
                if not state:
                    state.update(step=0, m=torch.zeros_like(p), v=torch.zeros_like(p))
                state["step"] += 1
                p.mul_(1 - group["lr"] * group["weight_decay"])
                state["m"].lerp_(g, 1 - b1)
                state["v"].mul_(b2).addcmul_(g, g, value=1 - b2)
                bias1, bias2 = 1 - b1 ** state["step"], 1 - b2 ** state["step"]
                denom = (state["v"].sqrt() / math.sqrt(bias2)).add_(group["eps"])
                p.addcdiv_(state["m"], denom, value=-group["lr"] / bias1)


x = torch.randn(24, 5)
y = torch.sin(x[:, :1]) + x[:, 1:2] * x[:, 2:3]


def new_model():
    torch.manual_seed(1)
    return nn.Sequential(nn.Linear(5, 8), nn.SiLU(), nn.Linear(8, 1))


history = defaultdict(list)
model = new_model()
sam = SAM(model.parameters(), torch.optim.SGD, lr=0.1, momentum=0.9)
for _ in range(4):
    loss = nn.functional.mse_loss(model(x), y)
    loss.backward()
    sam.first_step(zero_grad=True)
    nn.functional.mse_loss(model(x), y).backward()
    sam.second_step(zero_grad=True)
    history["sam"].append(round(loss.item(), 4))


model = new_model()
lookahead = Lookahead(torch.optim.Adam(model.parameters(), lr=0.05))
for _ in range(4):
    lookahead.zero_grad()
    loss = nn.functional.mse_loss(model(x), y)
    loss.backward()
    lookahead.step()
    history["lookahead"].append(round(loss.item(), 4))

mine, theirs = new_model(), new_model()
pair = MyAdamW(mine.parameters()), torch.optim.AdamW(theirs.parameters(), lr=1e-2)
for _ in range(4):
    for model, optimizer in zip((mine, theirs), pair):
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(model(x), y)
        loss.backward()
        optimizer.step()
    history["adamw"].append(round(loss.item(), 4))
print("the same as torch's:", all(torch.allclose(a, b, atol=1e-6) for a, b in zip(mine.parameters(), theirs.parameters())))

model = new_model()
optimizer = MyAdamW([{"params": model[0].parameters(), "centralise": True}, {"params": model[2].parameters(), "lr": 0.1}])
nn.functional.mse_loss(model(x), y).backward()
optimizer.step()
print(optimizer)
for name, losses in history.items():
    print(name, losses)
