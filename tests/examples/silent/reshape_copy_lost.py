# index_copy at 4: m
import torch
m = torch.arange(6.0).reshape(2, 3)
m.t().reshape(-1)[0] = 100
print(m)
