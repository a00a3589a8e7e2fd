# index_copy at 4: x
import torch
x = torch.tensor([1.0, -2.0, 3.0, -4.0])
x[x < 0].zero_()
print(x)
