# attention_weights at 15: h = encoder
import torch
from torch import nn

torch.manual_seed(0)
emb = nn.Embedding(12, 8)
layer = nn.TransformerEncoderLayer(8, 2, 16, dropout=0.0, batch_first=True)
encoder = nn.TransformerEncoder(layer, 1)
fc = nn.Linear(8, 2)
params = [*emb.parameters(), *encoder.parameters(), *fc.parameters()]
optimizer = torch.optim.Adam(params)
ids = torch.tensor([[5, 7, 3, 0], [4, 8, 0, 0], [6, 2, 0, 0]])
y = torch.tensor([0, 1, 1])
for step in range(3):
    h = encoder(emb(ids), src_key_padding_mask=(ids > 0))
    loss = nn.functional.cross_entropy(fc(h[:, 0]), y)

    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, loss.item())
