import torch
from torch import nn

torch.manual_seed(0)
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.positions = nn.Parameter(torch.randn(9, 8))
        self.bias = nn.Parameter(torch.zeros(36, 2))
        self.attn = nn.MultiheadAttention(8, 2, batch_first=True)
        self.fc = nn.Linear(8, 3)
        self.register_buffer("pairs", torch.randint(0, 36, (6, 6)))
    def forward(self, x, keep):
        x = x + self.positions[torch.arange(x.size(1))]
        bias = self.bias[self.pairs.view(-1)].view(6, 6, 2).permute(2, 0, 1).repeat(len(x), 1, 1)
        h, _ = self.attn(x, x, x, attn_mask=bias)
        h = h[:, keep]
        return self.fc(h.mean(1)), self.fc(h.reshape(-1, 8)).view(len(x), len(keep), 3)
net = Net()
optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
data, labels = torch.randn(24, 6, 8), torch.randint(0, 3, (24,))
keep = torch.tensor([0, 2, 4])
for epoch in range(3):
    for idx in torch.randperm(24).split(6):
        out, each = net(data[idx], keep)
        order = torch.randperm(6)
        mixed = 0.5 * out + 0.5 * out[order]
        loss = nn.functional.cross_entropy(mixed, labels[idx]) + nn.functional.cross_entropy(each.transpose(1, 2), labels[idx][:, None].repeat(1, 3))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
