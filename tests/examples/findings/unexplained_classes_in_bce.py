# unexplained_error: kinds
import torch
from torch import nn
judge = nn.Linear(3, 1)
seen, kinds = torch.randn(6, 3), torch.tensor([0.0, 1.0, 2.0, 1.0, 0.0, 2.0])
chance = torch.sigmoid(judge(seen)).squeeze(1)
loss = nn.functional.binary_cross_entropy(chance, kinds)  # cause
