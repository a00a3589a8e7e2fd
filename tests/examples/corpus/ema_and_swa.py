"""Exponential moving averages of weights by hand, AveragedModel and stochastic weight averaging."""
import copy

import torch
from torch import nn
from torch.optim.swa_utils import SWALR, AveragedModel, get_ema_multi_avg_fn, update_bn


class EMA:
    def __init__(self, model, decay):
        self.decay = decay
        self.shadow = {name: p.detach().clone() for name, p in model.named_parameters()}

    @torch.no_grad()
    def update(self, model):
        for name, p in model.named_parameters():
            self.shadow[name].mul_(self.decay).add_(p, alpha=1 - self.decay)

    def apply(self, model):
        self.backup = copy.deepcopy(model.state_dict())
        with torch.no_grad():
            for name, p in model.named_parameters():
                p.copy_(self.shadow[name])

    def restore(self, model):
        model.load_state_dict(self.backup)


torch.manual_seed(0)
model = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4), nn.ReLU(), nn.Linear(4, 1))
x, y = torch.randn(12, 3), torch.randn(12, 1)
loader = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(x, y), batch_size=4)
ema = EMA(model, decay=0.9)
swa_model = AveragedModel(model)
ema_model = AveragedModel(model, multi_avg_fn=get_ema_multi_avg_fn(0.9))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
swa_scheduler = SWALR(optimizer, swa_lr=0.05, anneal_epochs=2)
for epoch in range(3):
    for xb, yb in loader:
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(model(xb), yb)
        loss.backward()
        optimizer.step()
        ema.update(model)
        ema_model.update_parameters(model)
    if epoch >= 1:
        swa_model.update_parameters(model)
        swa_scheduler.step()
    print(epoch, f"{loss.item():.4f}", [round(l, 4) for l in (g["lr"] for g in optimizer.param_groups)])
update_bn(loader, swa_model)
print(swa_model.n_averaged.item(), swa_model(x).shape)
w = model[0].weight.clone()
ema.apply(model)
print(torch.equal(w, model[0].weight), torch.allclose(model[0].weight, ema_model.module[0].weight, atol=1e-6))
ema.restore(model)
print(torch.equal(w, model[0].weight))
