"""Pruning: random and magnitude, masks and buffers, structured, making it permanent, a method of one's own."""
import torch
import torch.nn.functional as F
from torch import nn
from torch.nn.utils import prune


class LeNet(nn.Module):
    def __init__(self):
        super(LeNet, self).__init__()
        self.conv1 = nn.Conv2d(1, 3, 3)
        self.fc1 = nn.Linear(3 * 6 * 6, 5)

    def forward(self, x):
        x = F.relu(self.conv1(x))
        return self.fc1(x.view(-1, int(x.nelement() / x.shape[0])))


torch.manual_seed(0)
model = LeNet()
module = model.conv1
print([name for name, _ in module.named_parameters()], list(module.named_buffers()))
prune.random_unstructured(module, name="weight", amount=0.3)
print([name for name, _ in module.named_parameters()], [name for name, _ in module.named_buffers()])
print(module.weight.grad_fn is not None, len(module._forward_pre_hooks), (module.weight == 0).sum().item())
prune.l1_unstructured(module, name="bias", amount=1)
prune.ln_structured(module, name="weight", amount=0.5, n=2, dim=0)
print((module.weight.abs().sum((1, 2, 3)) == 0).tolist())
print(sorted(model.state_dict().keys()))
prune.remove(module, "weight")
print([name for name, _ in module.named_parameters()])
parameters_to_prune = ((model.conv1, "weight"), (model.fc1, "weight"))
prune.global_unstructured(parameters_to_prune, pruning_method=prune.L1Unstructured, amount=0.2)
print("Sparsity in fc1.weight: {:.2f}%".format(100.0 * float(torch.sum(model.fc1.weight == 0)) / float(model.fc1.weight.nelement())))


class FooBarPruningMethod(prune.BasePruningMethod):
    """Prune every other entry in a tensor"""
    PRUNING_TYPE = "unstructured"

    def compute_mask(self, t, default_mask):
        mask = default_mask.clone()
        mask.view(-1)[::2] = 0
        return mask


def foobar_unstructured(module, name):
    FooBarPruningMethod.apply(module, name)
    return module


model = LeNet()
foobar_unstructured(model.fc1, name="bias")
print(model.fc1.bias_mask)
loss = model(torch.randn(2, 1, 8, 8)).sum()
loss.backward()
print(model.fc1.bias_orig.grad)
