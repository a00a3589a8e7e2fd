from dataclasses import dataclass, field

from torch import nn


@dataclass
class Settings:
    width: int = 2
    names: list[str] = field(default_factory=lambda: ["a"])

    def layer(self) -> nn.Linear:
        return nn.Linear(self.width, len(self.names))
