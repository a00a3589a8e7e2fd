# reshape of contiguous and of transposed memory; flatten and ravel likewise.
import torch
x = torch.arange(4.0).view(2, 2)
straight, crossed = x.reshape(4), x.t().reshape(4)
x[0, 1] = 8
print(straight, crossed, x.flatten()._base is x._base, x.t().contiguous()._base)
