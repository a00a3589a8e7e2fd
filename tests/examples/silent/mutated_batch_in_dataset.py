# shared_memory at 7: data
import torch
torch.manual_seed(0)
data = torch.arange(6.0).view(3, 2)
for epoch in range(2):
    for row in data:
        row -= row.mean()
        row *= 2
print(data)
