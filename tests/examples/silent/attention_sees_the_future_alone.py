# attention_weights at 21: `net.mask`
import torch
from torch import nn
import torch.nn.functional as F

torch.manual_seed(0)
class GPT(nn.Module):
    def __init__(self, vocab=13, d=8, heads=2, T=6):
        super().__init__()
        self.tok, self.pos = nn.Embedding(vocab, d), nn.Embedding(T, d)
        self.c_attn, self.c_proj = nn.Linear(d, 3 * d), nn.Linear(d, d)
        self.ln = nn.LayerNorm(d)
        self.head = nn.Linear(d, vocab)
        self.heads = heads
        self.register_buffer('mask', torch.triu(torch.ones(T, T), diagonal=1).bool())
    def forward(self, idx):
        B, T = idx.shape
        x = self.tok(idx) + self.pos(torch.arange(T))
        q, k, v = self.c_attn(self.ln(x)).split(8, dim=2)
        q, k, v = (t.view(B, T, self.heads, -1).transpose(1, 2) for t in (q, k, v))
        y = F.scaled_dot_product_attention(q, k, v, attn_mask=self.mask[:T, :T])
        x = x + self.c_proj(y.transpose(1, 2).reshape(B, T, -1))
        return self.head(x)
net = GPT()
optimizer = torch.optim.Adam(net.parameters())
data = torch.randint(0, 13, (2, 7))
for step in range(3):
    logits = net(data[:, :-1])
    loss = F.cross_entropy(logits.flatten(0, 1), data[:, 1:].flatten())

    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, loss.item())
