import torch
import numpy as np

import warnings
lib = torch.library.Library("aten", "IMPL")
def neg(x):
    print("neg of mine")
    return x * -1
with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    lib.impl("neg", neg, "CPU")
print(-torch.ones(2))
del lib
