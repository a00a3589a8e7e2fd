import torch

bias = torch.tensor([[1.0], [2.0]])
wide = bias.expand(2, 3)
tiled = bias.repeat(1, 3)

tiled += 4
print(tiled)

wide += 4
