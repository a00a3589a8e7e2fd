# A write through overlapping strides depends on the order of the elements.
import torch
x = torch.zeros(4)
windows = x.unfold(0, 2, 1)
print(windows.shape, windows.stride())
windows[0] = torch.tensor([1.0, 2.0])
windows[1, 0] = 4
print(x, windows)
