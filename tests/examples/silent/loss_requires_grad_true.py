# grad_none at 7: model
import torch
from torch import nn
model = nn.Linear(2, 3)
x, y = torch.ones(4, 2), torch.tensor([0, 1, 2, 0])
logits = model(x)
pred = logits.argmax(1).float()
loss = ((pred - y.float()) ** 2).mean()
loss.requires_grad = True
loss.backward()
print(model.weight.grad)
