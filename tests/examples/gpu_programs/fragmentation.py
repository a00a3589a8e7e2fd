import torch
blocks = [torch.empty(3 << 20, dtype=torch.uint8, device="cuda") for _ in range(6)]
print(torch.cuda.memory_allocated(), torch.cuda.memory_reserved())
del blocks[1], blocks[2], blocks[3]
print(torch.cuda.memory_allocated(), torch.cuda.memory_reserved())
large = torch.empty(8 << 20, dtype=torch.uint8, device="cuda")
print(torch.cuda.memory_allocated(), torch.cuda.memory_reserved())
again = torch.empty(2 << 20, dtype=torch.uint8, device="cuda")
print(torch.cuda.memory_allocated(), torch.cuda.memory_reserved())
torch.cuda.empty_cache()
print(torch.cuda.memory_reserved())
