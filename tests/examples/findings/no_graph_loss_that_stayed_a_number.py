# no_graph: loss
import torch
from torch import nn

torch.manual_seed(0)
model = nn.Linear(2, 1)
batches = [torch.randn(3, 2)]
loss = 0  # cause
for batch in batches:
    out = model(batch)
    if out.shape[0] > 4:
        loss = loss + out.pow(2).mean()
loss.backward()
