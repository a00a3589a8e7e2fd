# view_swaps_axes at 14: `f`
import torch
from torch import nn

torch.manual_seed(0)
class CNNRNN(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv1d(3, 6, 3, padding=1)
        self.rnn = nn.GRU(6, 5, batch_first=True)
        self.fc = nn.Linear(5, 1)
    def forward(self, x):
        f = torch.relu(self.conv(x))
        f = f.view(f.size(0), -1, 6)
        h, _ = self.rnn(f)
        return self.fc(h[:, -1])
net = CNNRNN()
optimizer = torch.optim.Adam(net.parameters())
x, y = torch.randn(4, 3, 12), torch.randn(4, 1)
for step in range(3):
    loss = nn.functional.mse_loss(net(x), y)

    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, loss.item())
