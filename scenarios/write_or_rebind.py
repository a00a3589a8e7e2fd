import torch

x = torch.tensor([1.0, 2.0])
kept = x

x += 8
written = kept is x

x = x + 16
print(kept, x)
differ = written and kept is not x
