import torch
x = torch.eye(2)
x @ x
