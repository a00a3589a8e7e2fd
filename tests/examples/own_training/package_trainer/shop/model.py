import torch
from torch import nn


class Classifier(nn.Module):
    def __init__(self, sizes):
        super().__init__()
        torch.manual_seed(0)
        self.layers = nn.Sequential(nn.Linear(sizes[0], sizes[1]), nn.Tanh(), nn.Linear(sizes[1], sizes[2]))

    def forward(self, x):
        weights = torch.softmax(self.layers(x), 1)
        weights = weights * 0.5  # mistake saved_overwritten: weights *= 0.5
        return weights.clamp_min(1e-6).log()
