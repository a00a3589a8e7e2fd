"""Multi-task learning with shared trunk and learned uncertainties."""
import torch
from torch import nn

torch.manual_seed(0)


class MultiTask(nn.Module):
    def __init__(self):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(5, 10), nn.ReLU())
        self.heads = nn.ModuleDict({"reg": nn.Linear(10, 1), "cls": nn.Linear(10, 3)})
        self.log_vars = nn.ParameterDict({k: nn.Parameter(torch.zeros(())) for k in self.heads})

    def forward(self, x):
        h = self.trunk(x)
        return {name: head(h) for name, head in self.heads.items()}


model = MultiTask()
x = torch.randn(12, 5)
targets = {"reg": x.sum(1, keepdim=True), "cls": x[:, :3].argmax(1)}
criteria = {"reg": nn.MSELoss(), "cls": nn.CrossEntropyLoss()}
opt = torch.optim.Adam(model.parameters(), lr=0.02)
for step in range(4):
    out = model(x)
    losses = {k: criteria[k](out[k], targets[k]) for k in out}
    total = sum(torch.exp(-model.log_vars[k]) * losses[k] + model.log_vars[k] for k in losses)
    opt.zero_grad(set_to_none=True)
    total.backward()
    opt.step()
    print(step, {k: round(v.item(), 4) for k, v in losses.items()})
print({k: round(v.item(), 4) for k, v in model.log_vars.items()}, list(dict(model.named_parameters()))[:2])
shared = list(model.trunk.parameters())
g_reg = torch.autograd.grad(criteria["reg"](model(x)["reg"], targets["reg"]), shared)
g_cls = torch.autograd.grad(criteria["cls"](model(x)["cls"], targets["cls"]), shared)
cos = sum((a * b).sum() for a, b in zip(g_reg, g_cls)) / (torch.cat([a.flatten() for a in g_reg]).norm() * torch.cat([b.flatten() for b in g_cls]).norm())
print(-1 <= cos <= 1)
