import torch

net = torch.nn.Linear(3, 2)
images = torch.ones(4, 3, 5)
flat = images.flatten(1)
print(flat.shape, net.weight.shape)

wide = torch.nn.Linear(15, 2)
print(wide(flat).shape)
net(flat)
