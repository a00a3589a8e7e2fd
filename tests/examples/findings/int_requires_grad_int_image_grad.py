# int_requires_grad: img
import torch
img = torch.randint(0, 255, (2, 2), dtype=torch.uint8)
img.requires_grad = True  # cause
