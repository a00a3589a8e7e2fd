import torch

weight = torch.tensor([2.0, 3.0], requires_grad=True)
squares = weight * weight
first = squares.sum()
second = squares.mean()
first.backward()
second.backward()
