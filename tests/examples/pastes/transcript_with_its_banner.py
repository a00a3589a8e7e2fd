import torch
v = torch.linspace(0, 1, 3)
v.data_ptr() == v.view(3, 1).data_ptr()
