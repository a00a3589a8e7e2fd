import torch

x = torch.arange(5.0)
windows = x.as_strided((3, 3), (1, 1))
print(windows)

windows[0, 2] = 16.0
print(windows)
print(x.untyped_storage().nbytes() // 4, windows.numel())
