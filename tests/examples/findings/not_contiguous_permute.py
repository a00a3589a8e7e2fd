# not_contiguous: img
import torch
img = torch.rand(2, 4, 4, 3).permute(0, 3, 1, 2)  # cause
flat = img.view(2, -1)  # cause
