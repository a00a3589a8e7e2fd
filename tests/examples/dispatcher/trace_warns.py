import torch
import numpy as np

import warnings
def f(x):
    if x.sum() > 0:
        return x * len(x)
    return x
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    traced = torch.jit.trace(f, torch.ones(2))
print([w.category.__name__ for w in caught], traced(torch.tensor([-1.0, -2.0])), traced.graph)
