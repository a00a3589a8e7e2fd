# reverse_unread at 15: `out`
import torch
from torch import nn

torch.manual_seed(0)


class Tagger(nn.Module):
    def __init__(self):
        super().__init__()
        self.rnn, self.head = nn.LSTM(4, 6, batch_first=True, bidirectional=True), nn.Linear(12, 3)

    def forward(self, x):
        out, _ = self.rnn(x)
        return self.head(out[:, -1])


net = Tagger()
opt = torch.optim.Adam(net.parameters(), lr=0.01)
x, y = torch.randn(8, 5, 4), torch.randint(3, (8,))
for _ in range(3):
    opt.zero_grad()
    nn.functional.cross_entropy(net(x), y).backward()
    opt.step()
