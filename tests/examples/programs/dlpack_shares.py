# A tensor made of another through dlpack.
import torch
from torch.utils.dlpack import from_dlpack, to_dlpack
a = torch.arange(3.0)
b = from_dlpack(to_dlpack(a))
b[0] = 8
print(a, b is a, b._version, a._version)
