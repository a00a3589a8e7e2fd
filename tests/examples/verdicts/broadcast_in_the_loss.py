import torch
from torch import nn

torch.manual_seed(0)
model = nn.Linear(2, 1)
x = torch.tensor([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
y = torch.tensor([1.0, 2.0, 3.0])
loss = ((model(x) - y) ** 2).mean()
loss.backward()
print(loss)
