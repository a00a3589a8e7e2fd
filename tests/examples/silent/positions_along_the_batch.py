# axes_confused at 17: `x`, `pos.pe`
import math
import torch
from torch import nn

torch.manual_seed(0)
class PositionalEncoding(nn.Module):
    def __init__(self, d_model, max_len=50):
        super().__init__()
        position = torch.arange(max_len).unsqueeze(1)
        div_term = torch.exp(torch.arange(0, d_model, 2) * (-math.log(10000.0) / d_model))
        pe = torch.zeros(max_len, 1, d_model)
        pe[:, 0, 0::2] = torch.sin(position * div_term)
        pe[:, 0, 1::2] = torch.cos(position * div_term)
        self.register_buffer('pe', pe)
    def forward(self, x):
        return x + self.pe[:x.size(0)]
emb, pos = nn.Embedding(15, 8), PositionalEncoding(8)
layer = nn.TransformerEncoderLayer(8, 2, 16, dropout=0.0, batch_first=True)
fc = nn.Linear(8, 2)
optimizer = torch.optim.Adam([*emb.parameters(), *layer.parameters(), *fc.parameters()])
ids, y = torch.randint(0, 15, (4, 6)), torch.tensor([0, 1, 1, 0])
for step in range(3):
    h = layer(pos(emb(ids)))
    loss = nn.functional.cross_entropy(fc(h.mean(dim=1)), y)

    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, loss.item())
