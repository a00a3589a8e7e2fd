import torch
a = torch.tensor([1, 2, 3])
a
b = a.clone()
b[0] = 9
a[0], b[0]
