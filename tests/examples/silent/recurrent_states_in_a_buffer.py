# graph_grows at 11: self.rows[-1][0][1]
import torch
from torch import nn


class Rollout:
    def __init__(self):
        self.rows = []

    def add(self, *row):
        self.rows.append(row)


cell, rollout, hidden = nn.GRUCell(2, 3), Rollout(), torch.zeros(1, 3)
for _ in range(4):
    obs = torch.rand(1, 2)
    hidden = cell(obs, hidden)
    rollout.add((obs, hidden))
