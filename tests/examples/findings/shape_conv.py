# shape_mismatch: image
import torch
conv = torch.nn.Conv2d(3, 2, 3)
image = torch.rand(1, 1, 8, 8)
conv(image)  # cause
