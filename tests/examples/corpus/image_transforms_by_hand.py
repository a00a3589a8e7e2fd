"""Image transforms without torchvision: normalise, flip, crop, pad, rotate by an affine grid."""
import math

import torch
import torch.nn.functional as F


class Compose:
    def __init__(self, transforms):
        self.transforms = transforms

    def __call__(self, img):
        for t in self.transforms:
            img = t(img)
        return img


class Normalize:
    def __init__(self, mean, std):
        self.mean, self.std = torch.tensor(mean).view(-1, 1, 1), torch.tensor(std).view(-1, 1, 1)

    def __call__(self, img):
        return (img - self.mean) / self.std


class RandomHorizontalFlip:
    def __init__(self, p=0.5):
        self.p = p

    def __call__(self, img):
        return img.flip(-1) if torch.rand(1).item() < self.p else img


class RandomCrop:
    def __init__(self, size, padding=0):
        self.size, self.padding = size, padding

    def __call__(self, img):
        img = F.pad(img, [self.padding] * 4)
        i = torch.randint(0, img.shape[1] - self.size + 1, (1,)).item()
        j = torch.randint(0, img.shape[2] - self.size + 1, (1,)).item()
        return img[:, i:i + self.size, j:j + self.size]


def rotate(img, degrees):
    a = math.radians(degrees)
    theta = torch.tensor([[[math.cos(a), -math.sin(a), 0.0], [math.sin(a), math.cos(a), 0.0]]])
    grid = F.affine_grid(theta, [1, *img.shape], align_corners=False)
    return F.grid_sample(img[None], grid, align_corners=False)[0]


torch.manual_seed(0)
img = torch.arange(48.0).view(3, 4, 4) / 48
transform = Compose([RandomCrop(4, padding=1), RandomHorizontalFlip(), Normalize([0.5] * 3, [0.25] * 3)])
for _ in range(2):
    out = transform(img)
    print(out.shape, f"{out.mean():.4f}")
print(torch.allclose(rotate(img, 90), img.rot90(1, (1, 2)), atol=1e-5) or torch.allclose(rotate(img, 90), img.rot90(-1, (1, 2)), atol=1e-5))
grey = (img * torch.tensor([0.299, 0.587, 0.114]).view(3, 1, 1)).sum(0)
print(grey[0], F.one_hot(grey.mul(4).long().clamp(max=3)).sum((0, 1)))
kernel = torch.tensor([[-1.0, 0, 1], [-2, 0, 2], [-1, 0, 1]]).view(1, 1, 3, 3)
print(F.conv2d(grey.view(1, 1, 4, 4), kernel).squeeze())
