import torch
from torch import nn
import torch.nn.functional as F

torch.manual_seed(0)

class Tagger(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(10, 4, padding_idx=0)
        self.lstm = nn.LSTM(4, 5, batch_first=True, bidirectional=True)
        self.out = nn.Linear(10, 3)

    def forward(self, tokens, lengths):
        packed = nn.utils.rnn.pack_padded_sequence(self.embed(tokens), lengths, batch_first=True, enforce_sorted=False)
        hidden, _ = self.lstm(packed)
        padded, _ = nn.utils.rnn.pad_packed_sequence(hidden, batch_first=True)
        return self.out(padded)


model = Tagger()
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
tokens = torch.tensor([[1, 2, 3, 4], [5, 6, 0, 0]])
tags = torch.tensor([[0, 1, 2, 0], [1, 2, -100, -100]])
for epoch in range(3):
    optimizer.zero_grad()
    logits = model(tokens, torch.tensor([4, 2]))
    loss = F.cross_entropy(logits.reshape(-1, 3), tags.reshape(-1))
    loss.backward()
    optimizer.step()
    print(epoch, loss.item())
