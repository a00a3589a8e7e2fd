import torch
import torch.nn.functional as F

scores = torch.zeros(2, 3, requires_grad=True)
labels = torch.tensor([1, 3])
print(scores.shape[1], labels.max())

print(F.cross_entropy(scores, labels - 1))
F.cross_entropy(scores, labels)
