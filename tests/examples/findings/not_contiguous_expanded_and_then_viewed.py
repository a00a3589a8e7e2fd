# not_contiguous: bias
import torch

torch.manual_seed(0)
bias = torch.randn(4, requires_grad=True)
rows = bias.expand(3, 4)  # cause
flat = rows.view(12)  # cause
print(flat)
