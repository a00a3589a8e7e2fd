import torch

scores = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
gates = scores.sigmoid()
gates.data.zero_()
total = gates.sum()
total.backward()
print(scores.grad)
