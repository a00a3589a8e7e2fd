import torch
from torch import nn
torch.manual_seed(0)
layer = nn.TransformerEncoderLayer(4, 2, 8, dropout=0.0, batch_first=True)
mask = nn.Transformer.generate_square_subsequent_mask(3)
opt = torch.optim.Adam(layer.parameters(), lr=0.01)
x = torch.randn(2, 3, 4)
for _ in range(2):
    opt.zero_grad()
    layer(x, src_mask=mask, is_causal=True).pow(2).mean().backward()
    opt.step()
