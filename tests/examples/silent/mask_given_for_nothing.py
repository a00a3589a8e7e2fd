# result_unused at 22: `mask`, attention
import torch
from torch import nn

torch.manual_seed(0)


def attention(q, k, v, mask=None):
    scores = q @ k.transpose(1, 2) / q.shape[-1] ** 0.5
    return scores.softmax(-1) @ v


class Writer(nn.Module):
    def __init__(self, d=8):
        super().__init__()
        self.embed, self.qkv, self.out = nn.Embedding(12, d), nn.Linear(d, 3 * d), nn.Linear(d, 12)

    def forward(self, tokens):
        q, k, v = self.qkv(self.embed(tokens)).chunk(3, dim=-1)
        size = tokens.shape[1]
        causal = torch.triu(torch.full((size, size), float("-inf")), diagonal=1)
        return self.out(attention(q, k, v, causal))


writer = Writer()
opt = torch.optim.Adam(writer.parameters(), lr=1e-2)
text = torch.randint(0, 12, (3, 7))
for _ in range(3):
    scores = writer(text[:, :-1])
    loss = nn.functional.cross_entropy(scores.flatten(0, 1), text[:, 1:].flatten())
    opt.zero_grad()
    loss.backward()
    opt.step()
