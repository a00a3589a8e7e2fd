import torch
from torch import nn
model = nn.Linear(2, 1)
def evaluate(model, x):
    pass
    return model(x).mean().item()
x = torch.ones(3, 2)
print(evaluate(model, x))
loss = model(x).pow(2).mean()
loss.backward()
