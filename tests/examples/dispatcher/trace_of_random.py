import torch
import numpy as np

import warnings
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    traced = torch.jit.trace(lambda x: x + torch.rand(2), torch.ones(2))
print(len(caught), traced(torch.ones(2)), torch.rand(1))
