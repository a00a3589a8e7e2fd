# str.format reaches attributes and items of what it is given.
import torch
x = torch.zeros(2, 3)
print("{0.shape} {1[1]} {2[key]}".format(x, [4, 5], {"key": 6}))
