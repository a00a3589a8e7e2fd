# view_swaps_axes at 14: `h`
import torch
from torch import nn

torch.manual_seed(0)
class Sentiment(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb = nn.Embedding(20, 6)
        self.lstm = nn.LSTM(6, 5, bidirectional=True, batch_first=True)
        self.fc = nn.Linear(10, 2)
    def forward(self, ids):
        _, (h, c) = self.lstm(self.emb(ids))
        return self.fc(h.view(ids.size(0), -1))
net = Sentiment()
optimizer = torch.optim.Adam(net.parameters())
ids, y = torch.randint(0, 20, (4, 7)), torch.tensor([0, 1, 1, 0])
for step in range(3):
    loss = nn.functional.cross_entropy(net(ids), y)

    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, loss.item())
