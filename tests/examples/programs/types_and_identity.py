# type, isinstance, __class__ and id of tensors.
import torch
x = torch.ones(1)
y = x
print(type(x), isinstance(x, torch.Tensor), type(x).__name__, x.__class__ is type(x), id(x) == id(y), id(x) == id(x.view(1)))
