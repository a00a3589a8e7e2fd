# to, float, contiguous and cpu give the same tensor where nothing is to do.
import torch
x = torch.ones(2)
print(x.to(torch.float32) is x, x.float() is x, x.contiguous() is x, x.cpu() is x)
y = x.to(torch.float64)
z = x.to(torch.float32, copy=True)
y[0] = 4
z[0] = 8
print(x, y, z)
