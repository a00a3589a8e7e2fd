# nonfinite at 5: 
import torch
scores = torch.randn(2, 3, requires_grad=True)
mask = torch.tensor([[True, True, False], [False, False, False]])
att = scores.masked_fill(~mask, float('-inf')).softmax(-1)
att.sum().backward()
print(att, scores.grad)
