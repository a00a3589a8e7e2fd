# index_copy at 5: votes
import torch
labels = torch.tensor([0, 1, 1, 1, 2])
votes = torch.zeros(3)
votes[labels] += 1
print(votes)
