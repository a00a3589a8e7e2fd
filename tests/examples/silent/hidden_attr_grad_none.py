# grad_none at 12: L1_H
import torch
from torch import nn

class SingleRNN(nn.Module):
    def __init__(self, n_in):
        super().__init__()
        self.Wxh = nn.Linear(n_in, 3)
        self.Why = nn.Linear(3, 1)

    def forward(self, X):
        self.L1_H = torch.tanh(self.Wxh(X))
        self.L2_Y = self.Why(self.L1_H)
        return self.L2_Y

model = SingleRNN(2)
loss = model(torch.ones(4, 2)).mean()
loss.backward()
print(model.L1_H.grad)
