# nonfinite at 5: scores
import torch
scores = torch.zeros(2, 3, requires_grad=True)
mask = torch.tensor([[True, True, True], [True, False, False]])
weights = torch.softmax(scores.masked_fill(mask, float("-inf")), dim=1)
weights[1].sum().backward()
print(scores.grad)
