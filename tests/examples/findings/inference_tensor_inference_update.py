# inference_tensor: cache
import torch
with torch.inference_mode():
    cache = torch.zeros(3)  # cause
w = torch.ones(3, requires_grad=True)
cache += (w * 2).detach()
