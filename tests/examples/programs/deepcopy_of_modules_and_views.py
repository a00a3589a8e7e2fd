# deepcopy of a module keeps grads apart; of a tensor and its view it keeps them together.
import copy
import torch
from torch import nn
layer = nn.Linear(2, 1)
layer(torch.ones(2)).backward()
twin = copy.deepcopy(layer)
print(twin.weight.grad, twin.weight.data_ptr() == layer.weight.data_ptr())
x = torch.arange(4.0)
both = copy.deepcopy([x, x[1:]])
both[0][1] = 16
print(both[1], x, copy.copy(x).data_ptr() == x.data_ptr(), copy.copy(x) is x)
