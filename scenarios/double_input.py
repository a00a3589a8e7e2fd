import numpy as np
import torch

table = np.array([[0.5, 1.5], [2.0, 3.0]])
x = torch.from_numpy(table)
net = torch.nn.Linear(2, 1)
print(x.dtype, net.weight.dtype)

print(net(x.float()).shape)
net(x)
