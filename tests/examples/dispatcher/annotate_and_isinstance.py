import torch
import numpy as np

@torch.jit.script
def f(x):
    # type: (Tensor) -> Tensor
    acc = torch.jit.annotate(List[int], [])
    acc.append(1)
    return x + acc[0]
print(f(torch.ones(2)), isinstance(f, torch.jit.ScriptFunction))
with torch.jit.optimized_execution(False):
    print(f(torch.zeros(1)))
