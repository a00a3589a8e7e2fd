# index_copy at 5: x
import torch
x = torch.zeros(4, 4)
idx = torch.tensor([0, 2])
x[idx][:, 1] = 5
print(x)
