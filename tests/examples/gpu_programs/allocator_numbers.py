import torch
print(torch.cuda.memory_allocated(), torch.cuda.memory_reserved(), torch.cuda.max_memory_allocated())
a = torch.ones(3 << 18, device="cuda")
b = a[:7]
print(torch.cuda.memory_allocated(), torch.cuda.max_memory_allocated())
del a
print(torch.cuda.memory_allocated())
b = b.clone()
print(torch.cuda.memory_allocated(), torch.cuda.max_memory_allocated())
torch.cuda.reset_peak_memory_stats()
print(torch.cuda.max_memory_allocated())
m = torch.ones(64, 64, device="cuda")
p = m @ m
print(torch.cuda.memory_allocated() > 1 << 20)
