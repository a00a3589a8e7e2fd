# index_copy at 5: acc
import torch
acc = torch.zeros(3)
idx = torch.tensor([1, 1, 2])
acc[idx] = acc[idx] + torch.ones(3)
print(acc)
