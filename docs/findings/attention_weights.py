# attention_weights at 10: `mask`
import torch
from torch import nn
import torch.nn.functional as F

torch.manual_seed(0)
def attention(q, k, v, mask=None):
    scores = torch.matmul(q, k.transpose(-2, -1)) / q.size(-1) ** 0.5
    if mask is not None:
        scores = scores.masked_fill(mask == 0, -1e9)
    p = F.softmax(scores, dim=-1)
    return torch.matmul(p, v), p

class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb = nn.Embedding(15, 8)
        self.q, self.k, self.v = nn.Linear(8, 8), nn.Linear(8, 8), nn.Linear(8, 8)
        self.fc = nn.Linear(8, 2)
    def forward(self, src):
        mask = (src != 0).unsqueeze(-1)
        x = self.emb(src)
        h, _ = attention(self.q(x), self.k(x), self.v(x), mask)
        return self.fc(h[:, 0])

net = Encoder()
optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
src = torch.tensor([[3, 4, 5, 0, 0], [1, 2, 7, 8, 0], [9, 11, 2, 1, 4]])
labels = torch.tensor([0, 1, 0])
for step in range(3):
    loss = F.cross_entropy(net(src), labels)

    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, loss.item())
