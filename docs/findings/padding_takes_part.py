# padding_takes_part at 9: 
import torch
from torch import nn

torch.manual_seed(0)
embed, cell, out = nn.Embedding(20, 8, padding_idx=0), nn.GRU(8, 8, batch_first=True), nn.Linear(8, 20)
tokens = torch.tensor([[4, 9, 2, 7, 5], [3, 8, 6, 0, 0], [1, 2, 0, 0, 0]])
states, _ = cell(embed(tokens[:, :-1]))
loss = nn.functional.cross_entropy(out(states).flatten(0, 1), tokens[:, 1:].flatten())
loss.backward()
