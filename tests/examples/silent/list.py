# memory_held at 6: kept[0], batch
import torch
kept = []
for i in range(4):
    batch = torch.randn(500, 8)
    kept.append(batch[:2])
print(len(kept))
