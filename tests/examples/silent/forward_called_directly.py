# hook_misses at 8: model
import torch
from torch import nn
model = nn.Linear(2, 2)
def hook(module, inputs, output):
    print("shape", output.shape)
model.register_forward_hook(hook)
y = model.forward(torch.ones(1, 2))
y.sum().backward()
