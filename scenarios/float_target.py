import torch
import torch.nn.functional as F

scores = torch.tensor([[2.0, 0.5, 0.1], [0.2, 0.1, 3.0]], requires_grad=True)
target = torch.tensor([0.0, 2.0])
print(target.dtype)

print(F.cross_entropy(scores, target.long()))
F.cross_entropy(scores, target)
