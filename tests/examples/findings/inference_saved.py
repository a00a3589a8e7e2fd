# inference_tensor: x
import torch
with torch.inference_mode():
    x = torch.ones(2)  # cause
w = torch.ones(2, requires_grad=True)
y = w * x  # cause
