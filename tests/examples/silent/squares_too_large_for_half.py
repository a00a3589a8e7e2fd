# nonfinite at 6: float16
import torch

torch.manual_seed(0)
scale = torch.ones(3, dtype=torch.float16, requires_grad=True)
energy = (torch.tensor([260.0, 40.0, 3.0], dtype=torch.float16) ** 2).sum()
out = scale / (1 + energy)
out.sum().backward()
print(out)
