"""Hooks on modules and tensors: feature extraction, gradients of activations, removal."""
import torch
import torch.nn as nn

torch.manual_seed(0)
model = nn.Sequential()
model.add_module("fc1", nn.Linear(3, 4))
model.add_module("act", nn.Tanh())
model.add_module("fc2", nn.Linear(4, 2))
activation = {}
gradients = {}


def get_activation(name):
    def hook(model, input, output):
        activation[name] = output.detach()
    return hook


def get_gradient(name):
    def hook(module, grad_input, grad_output):
        gradients[name] = grad_output[0].detach()
    return hook


handles = [layer.register_forward_hook(get_activation(name)) for name, layer in model.named_children()]
handles += [layer.register_full_backward_hook(get_gradient(name)) for name, layer in model.named_children()]
x = torch.randn(2, 3)
out = model(x)
out.sum().backward()
for name in activation:
    print(name, activation[name].shape, gradients[name].abs().sum().item() > 0)
for handle in handles:
    handle.remove()
activation.clear()
model(x)
print(len(activation))
pre = model.fc1.register_forward_pre_hook(lambda module, args: (args[0] * 2,))
print(torch.allclose(model(x), model.fc2(model.act(model.fc1.weight @ (2 * x).T + model.fc1.bias[:, None]).T)))
pre.remove()
v = torch.tensor([0.0, 0.0, 0.0], requires_grad=True)
h = v.register_hook(lambda grad: grad * 2)
v.backward(torch.tensor([1.0, 2.0, 3.0]))
print(v.grad)
h.remove()
y = (v + 1) ** 2
y.retain_grad()
y.register_hook(lambda g: print("gradient of y", g))
y.sum().backward()
print(y.grad, v.grad)
