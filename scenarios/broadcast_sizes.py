import torch

scores = torch.ones(2, 3)
bias = torch.tensor([1.0, 2.0])

column = bias.view(2, 1)
print(scores + column)
scores + bias
