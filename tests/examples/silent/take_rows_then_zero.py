# index_copy at 5: x
import torch
x = torch.ones(4, 2)
idx = torch.tensor([0, 2])
x.index_select(0, idx).zero_()
print(x)
