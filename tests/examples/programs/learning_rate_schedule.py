# A scheduler changes the optimizer's groups.
import torch
from torch.optim.lr_scheduler import StepLR
w = torch.tensor([8.0], requires_grad=True)
opt = torch.optim.SGD([w], lr=1.0)
plan = StepLR(opt, step_size=1, gamma=0.5)
for _ in range(3):
    w.grad = torch.ones(1)
    opt.step()
    plan.step()
    print(w.item(), opt.param_groups[0]["lr"])
