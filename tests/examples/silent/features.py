# shared_memory at 7: features['lin'], net(torch.randn(2, 2))
import torch
from torch import nn
features = {}
def save(name):
    def hook(module, inp, out):
        features[name] = out
    return hook
net = nn.Sequential(nn.Linear(2, 3), nn.ReLU(inplace=True))
net[0].register_forward_hook(save("lin"))
net(torch.randn(2, 2))
print(features["lin"])
