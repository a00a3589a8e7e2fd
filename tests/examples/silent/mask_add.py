# index_copy at 4: x
import torch
x = torch.tensor([1., -2., 3.])
x[x < 0].mul_(-1)
print(x)
