# The default dtype changed and put back.
import torch
torch.set_default_dtype(torch.float64)
x = torch.tensor([1.0])
torch.set_default_dtype(torch.float32)
print(x.dtype, (x + torch.ones(1)).dtype, torch.ones(1).dtype)
