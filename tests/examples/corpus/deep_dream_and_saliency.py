"""What a net looks at: saliency, integrated gradients, occlusion and a small deep dream, with hooks."""

from collections import OrderedDict

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(
    OrderedDict(
        conv1=nn.Conv2d(1, 4, 3, padding=1),
        relu1=nn.ReLU(),
        pool=nn.MaxPool2d(2),
        conv2=nn.Conv2d(4, 8, 3, padding=1),
        relu2=nn.ReLU(),
        gap=nn.AdaptiveAvgPool2d(1),
        flat=nn.Flatten(),
        fc=nn.Linear(8, 3),
    )
).eval()
for p in model.parameters():
    p.requires_grad_(False)

image = torch.zeros(1, 1, 8, 8)
image[..., 2:6, 2:6] = 1.0

# plain saliency
x = image.clone().requires_grad_()
scores = model(x)
target = scores.argmax(dim=1).item()
scores[0, target].backward()
saliency = x.grad.abs().amax(dim=1)[0]
print("class", target, "strongest pixel", divmod(saliency.argmax().item(), 8))


def integrated_gradients(image, target, baseline=None, steps=8):
    baseline = torch.zeros_like(image) if baseline is None else baseline
    total = torch.zeros_like(image)
    for alpha in torch.linspace(1 / steps, 1, steps):
        point = (baseline + alpha * (image - baseline)).requires_grad_()
        (gradient,) = torch.autograd.grad(model(point)[0, target], point)
        total += gradient
    return (image - baseline) * total / steps


attribution = integrated_gradients(image, target)
gap = model(image)[0, target] - model(torch.zeros_like(image))[0, target]
print(f"completeness: {attribution.sum():.4f} of {gap:.4f}")


def occlusion(image, target, size=4):
    base = model(image).softmax(-1)[0, target]
    heat = torch.empty(8 // size, 8 // size)
    for i in range(0, 8, size):
        for j in range(0, 8, size):
            covered = image.clone()
            covered[..., i : i + size, j : j + size] = 0.5
            heat[i // size, j // size] = base - model(covered).softmax(-1)[0, target]
    return heat


print(occlusion(image, target))


class GradCAM:
    def __init__(self, layer):
        self.activations = self.gradients = None
        self.handles = [
            layer.register_forward_hook(self.save_activation),
            layer.register_full_backward_hook(self.save_gradient),
        ]

    def save_activation(self, module, inputs, output):
        self.activations = output.detach()

    def save_gradient(self, module, grad_input, grad_output):
        self.gradients = grad_output[0].detach()

    def __call__(self, image, target):
        x = image.clone().requires_grad_()
        model(x)[0, target].backward()
        weights = self.gradients.mean(dim=(2, 3), keepdim=True)
        cam = F.relu((weights * self.activations).sum(1, keepdim=True))
        cam = F.interpolate(cam, size=image.shape[2:], mode="bilinear", align_corners=False)
        return (cam - cam.min()) / (cam.max() - cam.min() + 1e-8)

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        for handle in self.handles:
            handle.remove()


with GradCAM(model.conv2) as cam:
    heat = cam(image, target)
    print("cam", heat.shape, round(heat.mean().item(), 4))

# deep dream: the image that a channel likes
seen = {}
handle = model.conv2.register_forward_hook(lambda m, i, o: seen.update(conv2=o))
dream = torch.full((1, 1, 8, 8), 0.5) + 0.01 * torch.randn(1, 1, 8, 8)
dream.requires_grad_()
for step in range(5):
    model(dream)
    loss = seen["conv2"][0, 2].mean()
    loss.backward()
    with torch.no_grad():
        g = dream.grad / (dream.grad.std() + 1e-8)
        dream += 0.1 * g
        dream.clamp_(0, 1)
    dream.grad.zero_()
    print(step, round(loss.item(), 4))
handle.remove()
