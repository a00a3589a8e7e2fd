"""Grad-CAM and saliency maps with hooks."""
import torch
from torch import nn
import torch.nn.functional as F

torch.manual_seed(0)
net = nn.Sequential(nn.Conv2d(1, 4, 3, padding=1), nn.ReLU(), nn.Conv2d(4, 6, 3, padding=1), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(6, 3))
net.eval()


class GradCAM:
    def __init__(self, model, layer):
        self.model = model
        self.handles = [layer.register_forward_hook(self.save_activation)]

    def save_activation(self, module, args, output):
        self.activations = output
        output.register_hook(self.save_gradient)

    def save_gradient(self, grad):
        self.gradients = grad

    def __call__(self, x, index=None):
        logits = self.model(x)
        index = logits.argmax(1).item() if index is None else index
        self.model.zero_grad()
        logits[0, index].backward()
        weights = self.gradients.mean((2, 3), keepdim=True)
        cam = F.relu((weights * self.activations).sum(1, keepdim=True))
        cam = F.interpolate(cam, x.shape[2:], mode="bilinear", align_corners=False)
        return ((cam - cam.min()) / (cam.max() - cam.min() + 1e-8)).detach(), index

    def remove(self):
        for handle in self.handles:
            handle.remove()


x = torch.rand(1, 1, 8, 8)
cam = GradCAM(net, net[3])
heat, index = cam(x)
print(heat.shape, index, 0 <= heat.min() <= heat.max() <= 1)
cam.remove()
image = x.clone().requires_grad_()
net(image)[0, index].backward()
saliency = image.grad.abs().max(dim=1).values
print(saliency.shape, saliency.sum() > 0)
smooth = torch.zeros_like(x)
for _ in range(3):
    noisy = (x + 0.1 * torch.randn_like(x)).requires_grad_()
    net(noisy)[0, index].backward()
    smooth += noisy.grad / 3
steps = torch.linspace(0, 1, 5).view(-1, 1, 1, 1)
path = (steps * x).requires_grad_()
grads, = torch.autograd.grad(net(path)[:, index].sum(), path)
print(smooth.shape, ((x * grads.mean(0)).sum() - (net(x) - net(torch.zeros_like(x)))[0, index]).abs() < 0.1)
