import torch

labels = torch.tensor([0, 2, 2, 1, 2])
counts = torch.zeros(3).index_add_(0, labels, torch.ones(5))
counts.scatter_add_(0, labels, torch.ones(5))
print(counts, torch.bincount(labels))
