"""Writing an optimizer and a scheduler of one's own."""
import math

import torch
from torch.optim.lr_scheduler import LRScheduler
from torch.optim.optimizer import Optimizer


class MyAdam(Optimizer):
    def __init__(self, params, lr=1e-3, betas=(0.9, 0.999), eps=1e-8):
        super().__init__(params, dict(lr=lr, betas=betas, eps=eps))

    @torch.no_grad()
    def step(self, closure=None):
        loss = None
        if closure is not None:
            with torch.enable_grad():
                loss = closure()
        for group in self.param_groups:
            for p in group["params"]:
                if p.grad is None:
                    continue
                state = self.state[p]
                if len(state) == 0:
                    state["step"] = 0
                    state["exp_avg"] = torch.zeros_like(p)
                    state["exp_avg_sq"] = torch.zeros_like(p)
                state["step"] += 1
                b1, b2 = group["betas"]
                state["exp_avg"].mul_(b1).add_(p.grad, alpha=1 - b1)
                state["exp_avg_sq"].mul_(b2).addcmul_(p.grad, p.grad, value=1 - b2)
                denom = (state["exp_avg_sq"] / (1 - b2 ** state["step"])).sqrt_().add_(group["eps"])
                p.addcdiv_(state["exp_avg"] / (1 - b1 ** state["step"]), denom, value=-group["lr"])
        return loss


class WarmupCosine(LRScheduler):
    def __init__(self, optimizer, warmup, total):
        self.warmup, self.total = warmup, total
        super().__init__(optimizer)

    def get_lr(self):
        t = self.last_epoch
        scale = (t + 1) / self.warmup if t < self.warmup else 0.5 * (1 + math.cos(math.pi * (t - self.warmup) / (self.total - self.warmup)))
        return [base * scale for base in self.base_lrs]


torch.manual_seed(0)
w0 = torch.randn(5)
mine, ref = w0.clone().requires_grad_(), w0.clone().requires_grad_()
opt, opt_ref = MyAdam([mine], lr=0.1), torch.optim.Adam([ref], lr=0.1)
for _ in range(5):
    for p, o in ((mine, opt), (ref, opt_ref)):
        o.zero_grad()
        (p ** 2).sum().backward()
        o.step()
print(torch.allclose(mine, ref, atol=1e-6), opt.state[mine]["step"])
opt = MyAdam([mine], lr=1.0)
sched = WarmupCosine(opt, 2, 6)
for _ in range(6):
    print(round(sched.get_last_lr()[0], 4), end=" ")
    opt.step()
    sched.step()
print()
print(opt)
