# numpy_requires_grad: preds
import numpy as np
import torch
from torch import nn
def plot(y, label):
    return np.asarray(y).max()  # cause
model = nn.Linear(1, 1)
x = torch.linspace(0, 1, 5).unsqueeze(1)
preds = model(x)
print(plot(preds, "fit"))  # cause
