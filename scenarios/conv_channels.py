import torch

conv = torch.nn.Conv2d(3, 4, kernel_size=3)
grey = torch.ones(2, 1, 5, 5)
print(conv.weight.shape)

colour = grey.expand(2, 3, 5, 5)
print(conv(colour).shape)
conv(grey)
