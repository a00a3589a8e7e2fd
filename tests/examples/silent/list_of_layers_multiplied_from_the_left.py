# layer_repeated at 4: Linear, 层们
import torch
from torch import nn
层们 = 3 * [
    nn.Linear(2, 2),
]
网 = nn.Sequential(*层们, nn.Linear(2, 1))
loss = 网(torch.ones(1, 2)).sum()
loss.backward()
