import torch

rows = []
for epoch in range(3):
    batch = torch.randn(1000, 8)
    rows.append(batch[0])

del batch
print([row.numel() for row in rows])
print([row.untyped_storage().nbytes() for row in rows])
