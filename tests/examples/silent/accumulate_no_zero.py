# grad_accumulated at 8: weight
import torch
from torch import nn
torch.manual_seed(0)
model = nn.Linear(2, 1, bias=False)
x = torch.ones(1, 2)
def grad_of(out):
    out.backward()
    return model.weight.grad
print(grad_of(model(x).sum()))
print(grad_of((2 * model(x)).sum()))
