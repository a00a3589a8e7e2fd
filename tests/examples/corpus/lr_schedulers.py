"""A tour of learning-rate schedulers: what each does to the same optimizer."""
import torch
from torch import nn
from torch.optim import lr_scheduler

model = nn.Linear(2, 1)


def trace(make, steps=6, metric=None):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    scheduler = make(optimizer)
    lrs = []
    for epoch in range(steps):
        optimizer.step()
        lrs.append(round(optimizer.param_groups[0]["lr"], 5))
        if metric is None:
            scheduler.step()
        else:
            scheduler.step(metric[epoch])
    return lrs


print("step", trace(lambda o: lr_scheduler.StepLR(o, step_size=2, gamma=0.1)))
print("multi", trace(lambda o: lr_scheduler.MultiStepLR(o, milestones=[1, 4], gamma=0.5)))
print("exp", trace(lambda o: lr_scheduler.ExponentialLR(o, gamma=0.9)))
print("cos", trace(lambda o: lr_scheduler.CosineAnnealingLR(o, T_max=5, eta_min=0.001)))
print("warm", trace(lambda o: lr_scheduler.CosineAnnealingWarmRestarts(o, T_0=2, T_mult=2)))
print("lambda", trace(lambda o: lr_scheduler.LambdaLR(o, lr_lambda=lambda e: 0.95 ** e)))
print("linear", trace(lambda o: lr_scheduler.LinearLR(o, start_factor=0.5, total_iters=4)))
print("poly", trace(lambda o: lr_scheduler.PolynomialLR(o, total_iters=4, power=2.0)))
print("one", trace(lambda o: lr_scheduler.OneCycleLR(o, max_lr=1.0, total_steps=10)))
print("cyc", trace(lambda o: lr_scheduler.CyclicLR(o, base_lr=0.01, max_lr=0.1, step_size_up=2)))
print("seq", trace(lambda o: lr_scheduler.SequentialLR(o, [lr_scheduler.ConstantLR(o, factor=0.1, total_iters=2), lr_scheduler.ExponentialLR(o, gamma=0.9)], milestones=[2])))
print("plateau", trace(lambda o: lr_scheduler.ReduceLROnPlateau(o, mode="min", patience=1, factor=0.1), metric=[1.0, 0.9, 0.9, 0.9, 0.9, 0.9]))
optimizer = torch.optim.Adam([{"params": model.weight, "lr": 1e-2}, {"params": model.bias}], lr=1e-3)
scheduler = lr_scheduler.ChainedScheduler([lr_scheduler.ConstantLR(optimizer, 0.5, 2), lr_scheduler.ExponentialLR(optimizer, 0.9)])
for _ in range(3):
    optimizer.step()
    scheduler.step()
print(scheduler.get_last_lr())
state = lr_scheduler.StepLR(optimizer, 3).state_dict()
print(sorted(state))
