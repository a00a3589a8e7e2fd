# dtype_mismatch: out bfloat16
import torch
from torch import nn
torch.manual_seed(0)
model = nn.Linear(4, 2)
x = torch.randn(3, 4)
y = torch.randn(3, 2).half()
with torch.autocast("cpu", dtype=torch.bfloat16):
    out = model(x)
print(out.dtype)
z = out @ y.t()  # cause
