# shared_memory at 13: features, relu_
import torch
from torch import nn


class DenseLayer(nn.Module):
    def __init__(self):
        super().__init__()
        self.act = nn.LeakyReLU(0.1, inplace=True)
        self.fc = nn.Linear(4, 2)

    def forward(self, features):
        new = self.fc(self.act(features))
        return torch.cat([features, new], dim=1)


torch.manual_seed(0)
layer = DenseLayer()
features = torch.randn(3, 4)
layer(features).sum().backward()
