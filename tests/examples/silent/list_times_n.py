# shared_memory at 3: bufs
import torch
bufs = [torch.zeros(2)] * 3
bufs[0] += 1
print(bufs[2])
