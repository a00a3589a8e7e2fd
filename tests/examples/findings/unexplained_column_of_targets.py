# unexplained_error: labels (4, 1) squeeze
import torch
logits = torch.randn(4, 3, requires_grad=True)
labels = torch.tensor([0, 1, 2, 0]).unsqueeze(1)
loss = torch.nn.functional.cross_entropy(logits, labels)  # cause
