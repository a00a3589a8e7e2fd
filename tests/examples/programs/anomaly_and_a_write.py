# Anomaly mode with an in-place write on a saved result, caught.
import torch
torch.autograd.set_detect_anomaly(True)
x = torch.zeros(2, requires_grad=True)
y = x.sigmoid()
y.mul_(2)
try:
    y.sum().backward()
except RuntimeError as error:
    print(str(error)[:40])
torch.autograd.set_detect_anomaly(False)
