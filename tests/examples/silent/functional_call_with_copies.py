# grad_none at 7: model.weight
import torch
from torch import nn

torch.manual_seed(0)
model = nn.Linear(2, 1)
fast = {name: p.detach().clone().requires_grad_() for name, p in model.named_parameters()}
out = torch.func.functional_call(model, fast, (torch.ones(1, 2),))
out.sum().backward()
print(model.weight.grad)
