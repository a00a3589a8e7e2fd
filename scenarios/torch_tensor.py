import torch

half = torch.tensor([1.0, 2.0, 4.0], dtype=torch.float16, requires_grad=True)
copied = torch.tensor(half)
listed = torch.tensor(half.tolist())

print(copied.dtype, copied.requires_grad)
print(listed.dtype)
holds = copied.dtype != half.dtype
