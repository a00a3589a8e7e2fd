# numpy_requires_grad: net
import torch
net = torch.nn.Linear(2, 1)
out = net(torch.ones(1, 2)).numpy()  # cause
