import torch
from torch import nn
torch.manual_seed(0)
net = nn.Sequential(nn.Linear(2, 3), nn.ReLU(), nn.Linear(3, 1))
features, grads = {}, {}
def keep(name):
    def hook(module, inputs, output):
        features[name] = output.detach()
    return hook
def keep_grad(module, grad_in, grad_out):
    grads["out"] = grad_out[0].detach()
handles = [net[0].register_forward_hook(keep("fc1")), net[2].register_full_backward_hook(keep_grad)]
net(torch.randn(2, 2)).sum().backward()
for handle in handles:
    handle.remove()
print(features["fc1"].shape, grads["out"])
