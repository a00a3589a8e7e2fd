"""Padding that is ignored, packed away, averaged out; tokens that are shifted; one order for inputs and targets."""

import torch
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

torch.manual_seed(0)
embed, cell = nn.Embedding(20, 8, padding_idx=0), nn.GRU(8, 8, batch_first=True)
words, topic = nn.Linear(8, 20), nn.Linear(8, 2)
nn.init.zeros_(topic.weight)
opt = torch.optim.Adam([*embed.parameters(), *cell.parameters(), *words.parameters(), *topic.parameters()], lr=1e-2)
schedule = torch.optim.lr_scheduler.CosineAnnealingLR(opt, T_max=3)
tokens = torch.tensor([[4, 9, 2, 7, 5], [3, 8, 6, 0, 0], [1, 2, 0, 0, 0]])
topics = torch.tensor([0, 1, 1])
criterion = nn.CrossEntropyLoss(ignore_index=0)
for _ in range(3):
    order = torch.randperm(3)
    text, wanted = tokens[order], topics[order]
    lengths = (text != 0).sum(1)
    hidden = embed(text)
    packed, last = cell(pack_padded_sequence(hidden, lengths, batch_first=True, enforce_sorted=False))
    states, _ = pad_packed_sequence(packed, batch_first=True)
    kept = (text != 0).unsqueeze(-1)
    pooled = (hidden * kept).sum(1) / lengths[:, None]
    loss = criterion(words(states[:, :-1]).flatten(0, 1), text[:, 1:].flatten())
    loss = loss + nn.functional.cross_entropy(topic(last[0] + pooled), wanted)
    opt.zero_grad()
    loss.backward()
    opt.step()
    schedule.step()
