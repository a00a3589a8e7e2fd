# set_ moves a handle onto another tensor's storage.
import torch
a = torch.arange(4.0)
b = torch.zeros(2)
b.set_(a.untyped_storage(), 1, (2,), (2,))
b[0] = 16
print(a, b, b.storage_offset(), b.stride())
c = torch.tensor([])
c.set_(a)
print(c.data_ptr() == a.data_ptr())
