import torch

torch.manual_seed(0)
scores = torch.randn(6)
mask = scores > 0
listed = scores[mask].clamp_(0, 1).tolist()
array = scores[mask].mul_(2).numpy()
total = scores[[0, 1]].abs_().numpy().sum()
numbers = [value.item() for value in scores[mask].neg_()]
print(listed, array, total, numbers)
