# result_unused at 21: AddLoss
import torch
from torch import nn

class AddLoss(torch.autograd.Function):
    @staticmethod
    def forward(ctx, output, extra):
        return output
    @staticmethod
    def backward(ctx, grad):
        return grad, torch.ones(())

torch.manual_seed(0)
gate, expert = nn.Linear(4, 4), nn.Linear(4, 4)
optimizer = torch.optim.Adam([*gate.parameters(), *expert.parameters()], lr=1e-2)
for step in range(3):
    x = torch.randn(6, 4)
    scores = gate(x).softmax(1)
    weights = scores.max(1).values
    balance = scores.mean(0).pow(2).sum()
    AddLoss.apply(weights, balance)
    loss = (weights.unsqueeze(1) * expert(x) - x).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
