import torch
from torch import nn

torch.manual_seed(0)
class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb = nn.Embedding(20, 6)
        self.gru = nn.GRU(6, 5, bidirectional=True, batch_first=True)
        self.fc = nn.Linear(10, 2)
    def forward(self, ids):
        _, h = self.gru(self.emb(ids))
        h = h.transpose(0, 1).reshape(ids.size(0), 10)
        return self.fc(h)
net = Encoder()
optimizer = torch.optim.Adam(net.parameters())
ids, y = torch.randint(0, 20, (24, 7)), torch.randint(0, 2, (24,))
for epoch in range(2):
    for idx in torch.randperm(24).split(8):
        loss = nn.functional.cross_entropy(net(ids[idx]), y[idx])

        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(epoch, loss.item())
