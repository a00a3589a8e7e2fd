# saved_overwritten: fc.weight
import torch
from torch import nn
fc = nn.Linear(2, 2)
out = fc(torch.rand(3, 2, requires_grad=True)).pow(2).mean()
with torch.no_grad():
    for p in fc.parameters():
        p.clamp_(-0.01, 0.01)  # cause
out.backward()
