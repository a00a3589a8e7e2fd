import torch
import numpy as np

from typing import Dict, List, Optional, Tuple
@torch.jit.script
def f(xs: List[torch.Tensor], d: Dict[str, int], o: Optional[torch.Tensor] = None) -> Tuple[torch.Tensor, int]:
    out = torch.zeros_like(xs[0])
    for x in xs:
        out += x
    if o is not None:
        out = out * o
    return out, d["a"]
print(f([torch.ones(2), torch.ones(2)], {"a": 3}), f([torch.ones(2)], {"a": 1}, torch.full((2,), 5.0)))
print(f.graph_for([torch.ones(2)], {"a": 1}) is not None)
