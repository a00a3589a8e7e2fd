# zero_gradient at 7: fc
import torch
from torch import nn
torch.manual_seed(0)
fc = nn.Linear(3, 1)
x, y = torch.randn(4, 3), torch.zeros(4, dtype=torch.long)
loss = nn.CrossEntropyLoss()(fc(x), y)
loss.backward()
print(loss, fc.weight.grad)
