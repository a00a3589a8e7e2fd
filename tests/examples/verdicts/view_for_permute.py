import torch

torch.manual_seed(0)
image = torch.arange(24.0).view(1, 2, 4, 3)
conv = torch.nn.Conv2d(3, 1, 1)

channels = image.view(1, 3, 2, 4)
print(channels[0, 0])
print(image[0, :, :, 0])
conv(channels).sum().backward()
