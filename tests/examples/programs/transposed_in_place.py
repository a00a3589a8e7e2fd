# t_ and transpose_ change the strides of the very handle.
import torch
x = torch.arange(6.0).view(2, 3)
same = x
y = x.t()
x.t_()
print(x.shape, x.stride(), same is x, torch.equal(x, y), x.is_contiguous())
z = x.contiguous()
z[0, 0] = 8
print(x[0, 0], z.stride())
