"""A decoder that carries its state, one output of many, a penalty that is added up, targets within reach, new weights with
a new optimizer, copies and labels in one order."""

import torch
from torch import nn

torch.manual_seed(0)
cell, head, value = nn.LSTMCell(3, 6), nn.Linear(6, 2), nn.Linear(6, 1)
x, labels = torch.randn(5, 4, 3), torch.randint(0, 2, (4,))
returns = torch.tanh(torch.randn(4, 1))
returns[0] = 1.0
for fold in range(2):
    for module in (cell, head, value):
        module.reset_parameters()
    opt = torch.optim.Adam([*cell.parameters(), *head.parameters(), *value.parameters()], lr=1e-2)
    for _ in range(2):
        state = None
        for x_t in x:
            state = cell(x_t, state)
            scores = head(state[0])
        penalty = 0
        for parameter in head.parameters():
            penalty = penalty + 1e-3 * parameter.pow(2).sum()
        copies = scores.repeat_interleave(3, dim=0)
        loss = nn.functional.cross_entropy(copies, labels.repeat_interleave(3)) + penalty
        loss = loss + nn.functional.mse_loss(torch.tanh(value(state[0])), returns)
        opt.zero_grad()
        loss.backward()
        opt.step()
