import torch
x = torch.ones(2)
if x.sum() > 1:
  print('　全角　')
  x = x * 2
print(x)
