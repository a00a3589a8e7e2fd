# shape_mismatch: xs
import torch
xs = [torch.ones(2), torch.ones(3)]
torch.stack(xs)  # cause
