# A dataclass with a default, a factory and a post-init.
from dataclasses import dataclass, field, replace
import torch
@dataclass
class Config:
    size: int
    rate: float = 0.5
    layers: list = field(default_factory=list)
    def __post_init__(self):
        self.area = self.size ** 2
config = Config(3)
config.layers.append(torch.zeros(1))
print(config, config.area, replace(config, size=4) == config)
