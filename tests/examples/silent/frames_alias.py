# shared_memory at 7: frames
import torch
buffer = torch.zeros(2)
frames = []
for t in range(3):
    buffer.fill_(t)
    frames.append(buffer)
print(frames)
