# samples_mixed at 10: `net.encoder.layers.0.self_attn`, `batch_first=True`
import torch
from torch import nn

torch.manual_seed(0)
class Fields(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb = nn.Embedding(15, 8)
        layer = nn.TransformerEncoderLayer(8, 2, 16, dropout=0.0)
        self.encoder = nn.TransformerEncoder(layer, 1)
        self.fc = nn.Linear(8 * 6, 2)
    def forward(self, ids):
        h = self.encoder(self.emb(ids))
        return self.fc(h.reshape(len(ids), -1))
net = Fields()
optimizer = torch.optim.Adam(net.parameters())
ids, y = torch.randint(0, 15, (24, 6)), torch.randint(0, 2, (24,))
for epoch in range(2):
    for idx in torch.randperm(24).split(8):
        loss = nn.functional.cross_entropy(net(ids[idx]), y[idx])

        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(epoch, loss.item())
