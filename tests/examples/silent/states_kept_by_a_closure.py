# graph_grows at 10: kept[-1]['state']
import torch
from torch import nn


def make_recorder():
    kept = []

    def record(state):
        kept.append({"state": state})

    return record


layer, record, x = nn.Linear(3, 3), make_recorder(), torch.ones(3)
for _ in range(5):
    x = torch.tanh(layer(x))
    record(x)
