# dtype_mismatch: target
import torch
logits = torch.rand(2, 3, requires_grad=True)
target = torch.tensor([0.0, 1.0])  # cause
torch.nn.functional.cross_entropy(logits, target.int())  # cause
