import torch
import numpy as np

import warnings
x = torch.zeros(2, requires_grad=True)
with torch.autograd.detect_anomaly(check_nan=True):
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            (torch.sqrt(x) * 0).sum().backward()
    except RuntimeError as error:
        print(error)
print(torch.is_anomaly_enabled())
