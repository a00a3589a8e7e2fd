import torch

counts = torch.tensor([1, 2, 4])
half = counts / 2
down = counts // 2
print(half.dtype, down.dtype)

counts += 1
print(counts)

counts += 0.5
