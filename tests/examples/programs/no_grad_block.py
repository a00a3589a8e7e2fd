# Inside no_grad a leaf may be written and results need no grad.
import torch
w = torch.tensor([4.0, 8.0], requires_grad=True)
with torch.no_grad():
    off = w * 2
    w -= 0.5 * w
on = w * 2
print(off.requires_grad, on.requires_grad, w, w._version)
