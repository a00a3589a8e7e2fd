# grad_none at 7: enc
import torch
from torch import nn
from torch.autograd import Variable
enc, dec = nn.Linear(2, 3), nn.Linear(3, 2)
feat = enc(torch.ones(1, 2))
inp = Variable(feat.data, requires_grad=True)
loss = dec(inp).pow(2).sum()
loss.backward()
print(enc.weight.grad)
