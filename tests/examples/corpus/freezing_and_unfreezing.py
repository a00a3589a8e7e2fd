"""Gradual unfreezing, discriminative rates, BatchNorm kept in eval."""
import torch
from torch import nn

torch.manual_seed(0)
net = nn.ModuleDict({"stem": nn.Sequential(nn.Linear(4, 6), nn.BatchNorm1d(6), nn.ReLU()), "body": nn.Sequential(nn.Linear(6, 6), nn.ReLU()), "head": nn.Linear(6, 2)})
forward = lambda x: net["head"](net["body"](net["stem"](x)))


def set_trainable(module, flag):
    for p in module.parameters():
        p.requires_grad = flag


set_trainable(net, False)
set_trainable(net["head"], True)
x, y = torch.randn(8, 4), torch.randint(2, (8,))
optimizer = torch.optim.SGD(net["head"].parameters(), lr=0.1)
for stage in ("head", "body", "stem"):
    if stage != "head":
        set_trainable(net[stage], True)
        optimizer.add_param_group({"params": list(net[stage].parameters()), "lr": 0.01})
    net["stem"][1].eval()
    running = net["stem"][1].running_mean.clone()
    before = {k: v.clone() for k, v in net.state_dict().items()}
    loss = nn.functional.cross_entropy(forward(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    changed = sorted({k.split(".")[0] for k, v in net.state_dict().items() if not torch.equal(v, before[k])})
    print(stage, f"{loss.item():.4f}", changed, torch.equal(running, net["stem"][1].running_mean), len(optimizer.param_groups))
