# Annotated names, parameters, results, and one annotation without a value.
from __future__ import annotations
from typing import Optional
import torch
width: int = 4
later: "torch.Tensor"
def scaled(x: torch.Tensor, by: Optional[float] = None, *, plus: float = 0.0) -> torch.Tensor:
    factor: float = by or 2.0
    return x * factor + plus
print(scaled(torch.ones(2)), scaled(torch.ones(1), 4.0, plus=1), width, "later" in globals())
