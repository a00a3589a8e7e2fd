# result_unused at 7: scores, masked_fill
import torch

torch.manual_seed(0)
scores = torch.randn(2, 4, requires_grad=True) * 2
mask = torch.tensor([[0, 0, 1, 1], [0, 0, 0, 1]]).bool()
scores.masked_fill(mask, float("-inf"))
weights = torch.softmax(scores, dim=1)
weights[:, 0].sum().backward()
