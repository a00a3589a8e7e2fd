# state_not_carried at 16: lstm
import torch
from torch import nn

torch.manual_seed(0)


class Reader(nn.Module):
    def __init__(self):
        super().__init__()
        self.rnn, self.head = nn.LSTM(3, 6, batch_first=True), nn.Linear(6, 1)

    def forward(self, x):
        outs = []
        for t in range(x.shape[1]):
            out, _ = self.rnn(x[:, t : t + 1])
            outs.append(out)
        return self.head(torch.cat(outs, dim=1))


reader = Reader()
opt = torch.optim.Adam(reader.parameters(), lr=1e-2)
x, y = torch.randn(4, 5, 3), torch.randn(4, 5, 1)
for _ in range(2):
    opt.zero_grad()
    nn.functional.mse_loss(reader(x), y).backward()
    opt.step()
