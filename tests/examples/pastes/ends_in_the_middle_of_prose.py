import torch
x = torch.rand(2, 2)
y = x.T
print(y.data_ptr() == x.data_ptr())
