# set_grad_enabled as a call and as a block, enable_grad inside it, two managers in one with.
import torch
x = torch.ones(1, requires_grad=True)
torch.set_grad_enabled(False)
a = x * 2
with torch.enable_grad(), torch.autograd.set_detect_anomaly(False):
    b = x * 2
    with torch.set_grad_enabled(False):
        c = x * 2
torch.set_grad_enabled(True)
print(a.requires_grad, b.requires_grad, c.requires_grad, torch.is_grad_enabled())
