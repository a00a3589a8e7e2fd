# saved_overwritten: x11
import torch
torch.manual_seed(0)
conv = torch.nn.Conv2d(1, 2, 1)
gate = torch.nn.Linear(4, 2)
img = torch.rand(1, 1, 4, 4)
x11 = conv(img)
xx1 = torch.sigmoid(gate(torch.ones(4)))
x11[:, :, 0:2, 0:2] = x11[:, :, 0:2, 0:2] * xx1[0]
x11[:, :, 2:4, 2:4] = x11[:, :, 2:4, 2:4] * xx1[1]  # cause
loss = x11.pow(2).mean()
loss.backward()
