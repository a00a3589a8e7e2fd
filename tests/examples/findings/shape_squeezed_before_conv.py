# shape_mismatch: squeeze (1, 1, 1, 8, 8) (8, 8)
import torch
conv = torch.nn.Conv2d(1, 2, 3)
stack = torch.randn(1, 1, 1, 8, 8)
frame = torch.squeeze(stack)  # cause
out = conv(frame)
