import torch
x = torch.arange(1000.0)
pinned = x.pin_memory()
moved = pinned.to("cuda", non_blocking=True)
torch.cuda.synchronize()
print(pinned.is_pinned(), x.is_pinned(), moved.sum().item(), pinned.data_ptr() != x.data_ptr())
