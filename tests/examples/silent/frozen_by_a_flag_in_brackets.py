# module_flag at 6: 参.requires_grad = False
import torch
from torch import nn
网 = nn.Linear(2, 1)
for 参 in 网.parameters():
    (参).require_grad = (False)
loss = 网(torch.ones(1, 2)).sum(); loss.backward()
