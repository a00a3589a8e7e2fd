import torch
z = torch.zeros(1)
z + 1
