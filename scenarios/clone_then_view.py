import torch

x = torch.tensor([[1.0, 2.0], [3.0, 4.0]])
flat = x.view(4)
flat_copy = x.clone().view(4)

x += 8
print(flat)
print(flat_copy)
holds = x[0, 0].item() == 1.0 and flat_copy[0].item() == 9.0
