# index_copy at 5: counts
import torch
labels = torch.tensor([0, 1, 1, 2, 1])
counts = torch.zeros(3)
counts[labels] += 1
print(counts)
