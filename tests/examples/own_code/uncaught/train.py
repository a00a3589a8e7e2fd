import torch
from losses import loss_of

w = torch.ones(3, requires_grad=True)
try:
    loss_of(w).backward()
except RuntimeError as error:
    raise ValueError("training failed") from error
