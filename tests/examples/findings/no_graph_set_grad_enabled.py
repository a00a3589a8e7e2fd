# no_graph: loss
import torch
from torch import nn
model = nn.Linear(2, 1)
def evaluate(model, x):
    torch.set_grad_enabled(False)  # cause
    return model(x).mean().item()
x = torch.ones(3, 2)
print(evaluate(model, x))
loss = model(x).pow(2).mean()  # cause
loss.backward()
