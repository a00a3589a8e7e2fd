import json
from dataclasses import asdict, dataclass, field

import torch
from network import build


@dataclass(frozen=True)
class OptimizerConfig:
    lr: float = 0.05
    momentum: float = 0.9


@dataclass
class Config:
    sizes: tuple[int, ...] = (4, 6, 1)
    rounds: int = 3
    optimizer: OptimizerConfig = field(default_factory=OptimizerConfig)


config = Config()
print(json.dumps(asdict(config)))
torch.manual_seed(0)
model = build(config.sizes)
optimizer = torch.optim.SGD(model.parameters(), **asdict(config.optimizer))
x = torch.randn(10, config.sizes[0])
for k in range(config.rounds):
    loss = (model(x) - x.sum(1, keepdim=True)).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(k, round(loss.item(), 4))
