# Under autocast a product has another dtype.
import torch
a = torch.ones(2, 2)
with torch.autocast("cpu", dtype=torch.bfloat16):
    b = a @ a
    c = a + a
print(b.dtype, c.dtype, b)
