# attention_weights at 25: `att`, `pad`
import math
import torch
from torch import nn
import torch.nn.functional as F

torch.manual_seed(0)

class SelfAttention(nn.Module):
    def __init__(self, d, heads):
        super().__init__()
        self.d, self.heads = d, heads
        self.qkv = nn.Linear(d, 3 * d)
        self.out = nn.Linear(d, d)
        self.dropout = nn.Dropout(0.1)

    def forward(self, x, pad):
        B, T, C = x.shape
        q, k, v = self.qkv(x).chunk(3, dim=-1)
        q = q.view(B, T, self.heads, C // self.heads).transpose(1, 2)
        k = k.view(B, T, self.heads, C // self.heads).transpose(1, 2)
        v = v.view(B, T, self.heads, C // self.heads).transpose(1, 2)
        att = (q @ k.transpose(-2, -1)) / math.sqrt(k.size(-1))
        att = F.softmax(att, dim=-1)
        att = att.masked_fill(pad[:, None, None, :], 0)
        att = self.dropout(att)
        y = att @ v
        y = y.transpose(1, 2).contiguous().view(B, T, C)
        return self.out(y)

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb = nn.Embedding(20, 8, padding_idx=0)
        self.attn = SelfAttention(8, 2)
        self.norm = nn.LayerNorm(8)
        self.fc = nn.Linear(8, 3)

    def forward(self, ids):
        pad = ids == 0
        x = self.emb(ids)
        x = self.norm(x + self.attn(x, pad))
        return self.fc(x.mean(1))

net = Net()
optimizer = torch.optim.AdamW(net.parameters(), lr=1e-3)
ids = torch.randint(1, 20, (4, 6))
ids[0, 4:] = 0
ids[2, 3:] = 0
labels = torch.randint(0, 3, (4,))
for step in range(3):
    logits = net(ids)
    loss = F.cross_entropy(logits, labels)

    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, loss.item())
