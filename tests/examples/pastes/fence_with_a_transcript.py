import torch
a = torch.arange(3)
a.numpy()[0] = 7
a
