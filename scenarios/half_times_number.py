import torch

half = torch.tensor([1.0, 2.0], dtype=torch.float16)
scalar = torch.tensor(2.5, dtype=torch.float64)
row = torch.tensor([2.5, 2.5], dtype=torch.float64)

number = half * 2.5
by_scalar = half * scalar
by_row = half * row
print(number.dtype, by_scalar.dtype, by_row.dtype)
stays = number.dtype == by_scalar.dtype == torch.float16
