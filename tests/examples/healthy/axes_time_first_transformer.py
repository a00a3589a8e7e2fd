import torch
from torch import nn
import torch.nn.functional as F

torch.manual_seed(0)

import math
class PE(nn.Module):
    def __init__(self, d, n=40):
        super().__init__()
        p = torch.arange(n).unsqueeze(1)
        div = torch.exp(torch.arange(0, d, 2) * (-math.log(10000.0) / d))
        pe = torch.zeros(n, 1, d)
        pe[:, 0, 0::2], pe[:, 0, 1::2] = torch.sin(p * div), torch.cos(p * div)
        self.register_buffer("pe", pe)
    def forward(self, x):
        return x + self.pe[:x.size(0)]
emb, pe, layer, lm = nn.Embedding(12, 8), PE(8), nn.TransformerEncoderLayer(8, 2, 16), nn.Linear(8, 12)
optimizer = torch.optim.Adam([*emb.parameters(), *layer.parameters(), *lm.parameters()])
data = torch.randint(0, 12, (7, 3))
for step in range(2):
    src, tgt = data[:-1], data[1:].reshape(-1)
    mask = nn.Transformer.generate_square_subsequent_mask(6)
    out = lm(layer(pe(emb(src)), src_mask=mask))
    loss = F.cross_entropy(out.view(-1, 12), tgt)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, loss.item())
