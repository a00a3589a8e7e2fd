# shared_memory at 6: memory
import torch
state = torch.zeros(2)
memory = []
for t in range(3):
    memory.append(state)
    state += 1
print(memory)
