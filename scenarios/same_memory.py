import torch

x = torch.tensor([1.0, 2.0, 4.0])
tail = x[1:]

print(tail is x)
print(tail.data_ptr() == x.data_ptr())
print(tail.untyped_storage().data_ptr() == x.untyped_storage().data_ptr())

tail[0] = 8.0
print(x)
holds = x.tolist() == [1.0, 2.0, 4.0]
