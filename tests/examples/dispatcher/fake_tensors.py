import torch
import numpy as np

from torch._subclasses.fake_tensor import FakeTensorMode
net = torch.nn.Linear(3, 2)
with FakeTensorMode(allow_non_fake_inputs=True) as mode:
    x = torch.ones(4, 3)
    y = net(x)
    w = (x * 2).view(-1)[:5]
    print(x, y.shape, w.stride(), type(y).__name__)
fake = mode.from_tensor(torch.ones(2, 3))
with mode:
    z = fake @ fake.T
print(z, z.device, isinstance(z, torch.Tensor))
try:
    fake + torch.ones(2, 3)
except Exception as error:
    print(type(error).__name__)
with mode:
    try:
        print(fake.sum().item())
    except Exception as error:
        print(type(error).__name__)
