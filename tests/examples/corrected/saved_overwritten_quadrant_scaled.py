import torch
torch.manual_seed(0)
conv = torch.nn.Conv2d(1, 2, 1)
gate = torch.nn.Linear(4, 2)
img = torch.rand(1, 1, 4, 4)
x11 = conv(img)
xx1 = torch.sigmoid(gate(torch.ones(4)))
scale = torch.ones(4, 4)
scale = torch.block_diag(torch.ones(2, 2) * xx1[0], torch.ones(2, 2) * xx1[1]) + torch.block_diag(torch.zeros(2, 2), torch.zeros(2, 2)) + (1 - torch.block_diag(torch.ones(2, 2), torch.ones(2, 2)))
x11 = x11 * scale
loss = x11.pow(2).mean()
loss.backward()
