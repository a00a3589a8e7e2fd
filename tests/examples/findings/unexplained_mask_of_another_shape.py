# unexplained_error: x (4, 3) keep (3,)
import torch
x = torch.randn(4, 3)
keep = torch.ones(3, dtype=torch.bool)
print(x[keep])  # cause
