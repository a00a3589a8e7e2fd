import torch
z = torch.zeros(2, 3).t()
print(z.is_contiguous(), z.stride())
