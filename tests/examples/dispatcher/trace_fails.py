import torch
import numpy as np

try:
    torch.jit.trace(lambda x: {"a": 1}, torch.ones(2))
except Exception as error:
    print(type(error).__name__, str(error)[:150])
try:
    torch.jit.trace(lambda x: x @ torch.ones(3), torch.ones(2))
except Exception as error:
    print(type(error).__name__, str(error)[:150])
y = torch.ones(2) * 3
print(y, torch.jit.is_tracing())
