import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.lstm = nn.LSTM(4, 3, num_layers=2, bidirectional=True)
        self.score = nn.Linear(6, 1)
        self.head = nn.Linear(12 + 6, 2)

    def forward(self, x):
        out, (last, _) = self.lstm(x)
        layers = last.view(2, 2, x.size(1), 3)
        ends = layers.permute(2, 0, 1, 3).reshape(x.size(1), -1)
        weights = torch.softmax(self.score(out).squeeze(-1), dim=0)
        pooled = torch.bmm(weights.t().unsqueeze(1), out.transpose(0, 1)).squeeze(1)
        return self.head(torch.cat((ends, pooled), dim=1))


torch.manual_seed(0)
net = Net()
x, y = torch.randn(7, 5, 4), torch.randint(0, 2, (5,))
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(4):
    optimizer.zero_grad()
    loss = nn.functional.cross_entropy(net(x), y)
    loss.backward()
    optimizer.step()
print(loss.item())
