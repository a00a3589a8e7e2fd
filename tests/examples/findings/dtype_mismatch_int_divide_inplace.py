# dtype_mismatch: img
import torch
img = torch.randint(0, 256, (2, 3))  # cause
img /= 255  # cause
print(img)
