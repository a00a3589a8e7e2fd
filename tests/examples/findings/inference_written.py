# inference_tensor: x
import torch
with torch.inference_mode():
    x = torch.ones(2)  # cause
x.add_(1)  # cause
