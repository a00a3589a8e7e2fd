import torch

original = torch.tensor([1.0, 2.0, 3.0])
copy = original
copy[0] = 10.0
print(original)
