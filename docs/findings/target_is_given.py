# target_is_given at 9: text
import torch
from torch import nn

torch.manual_seed(0)
embed, cell, out = nn.Embedding(12, 8), nn.GRU(8, 8, batch_first=True), nn.Linear(8, 12)
text = torch.randint(0, 12, (3, 6))
states, _ = cell(embed(text))
loss = nn.functional.cross_entropy(out(states).view(-1, 12), text.view(-1))
loss.backward()
