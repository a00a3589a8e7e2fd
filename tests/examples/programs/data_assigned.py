# Assigning .data gives a handle other memory, of another shape, under the same version.
import torch
x = torch.ones(2, requires_grad=True)
y = x * x
x.data = torch.zeros(3)
print(x, x._version, x.shape, y)
grown = torch.arange(4.0)
grown.resize_(2, 3)[1, 1:] = 0
print(grown.shape, grown.untyped_storage().nbytes())
emptied = torch.ones(2)
emptied.untyped_storage().resize_(0)
print(emptied.shape)
del emptied
