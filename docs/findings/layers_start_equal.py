# layers_start_equal at 5: `encoder.layers.0.self_attn.in_proj_weight`
import torch
from torch import nn

encoder = nn.TransformerEncoder(nn.TransformerEncoderLayer(4, 2, 8, dropout=0.0, batch_first=True), num_layers=2)
optimizer = torch.optim.Adam(encoder.parameters(), lr=1e-3)
for step in range(2):
    loss = encoder(torch.randn(3, 5, 4)).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
