# shape_mismatch: logits target
import torch
import torch.nn.functional as F
logits = torch.rand(4, 3)
target = torch.tensor([0, 1, 2])
F.cross_entropy(logits, target)  # cause
