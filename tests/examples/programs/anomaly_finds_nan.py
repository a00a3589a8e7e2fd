# Anomaly detection stops at the first node that makes a NaN.
import torch
x = torch.zeros(1, requires_grad=True)
with torch.autograd.detect_anomaly(check_nan=True):
    y = x.sqrt() * 0
    try:
        y.backward()
    except RuntimeError as error:
        print(error)
