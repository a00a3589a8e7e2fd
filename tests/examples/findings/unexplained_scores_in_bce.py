# unexplained_error: score sigmoid BCEWithLogitsLoss
import torch
from torch import nn
judge = nn.Linear(3, 1)
seen, wanted = torch.randn(6, 3), torch.ones(6, 1)
score = judge(seen)
loss = nn.BCELoss()(score, wanted)  # cause
