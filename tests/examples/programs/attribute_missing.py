# A tensor has no such attribute.
import torch
x = torch.ones(2)
x.requires_gradient
