import torch
w = torch.ones(2, requires_grad=True)
w.requires_grad_(False)
print(w.requires_grad)
