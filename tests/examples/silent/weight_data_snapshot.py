# shared_memory at 6: old
import torch
from torch import nn
net = nn.Linear(2, 2)
old = net.weight.data
net.weight.data += 1
print((net.weight - old).abs().sum())
