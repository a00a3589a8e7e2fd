import torch

x = torch.tensor([1.0, 2.0, 4.0])
y = x.detach()
z = x

same_id = id(x) == id(y)
same_memory = x.data_ptr() == y.data_ptr()
print(same_id, same_memory, z is x)

y[0] = 8.0
print(x)
id_tells = same_id == same_memory
