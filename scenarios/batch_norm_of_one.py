import torch

norm = torch.nn.BatchNorm1d(3)
two = torch.tensor([[1.0, 2.0, 3.0], [3.0, 2.0, 1.0]])
print(norm(two))

norm.eval()
print(norm(two[:1]))
norm.train()
norm(two[:1])
