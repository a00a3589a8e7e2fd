# not_scalar: loss
import torch
from torch import nn
loss_fn = nn.L1Loss(reduction="none")
loss = loss_fn(nn.Linear(2, 1)(torch.ones(4, 2)), torch.zeros(4, 1))
loss.backward()  # cause
