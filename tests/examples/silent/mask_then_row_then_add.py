# index_copy at 5: scores
import torch
scores = torch.zeros(3, 4)
mask = torch.tensor([True, False, True])
scores[mask][:, 1] += 5
print(scores)
