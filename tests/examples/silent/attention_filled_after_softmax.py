# attention_weights at 15: softmax
import torch
from torch import nn

torch.manual_seed(0)
to_qkv, head = nn.Linear(8, 24), nn.Linear(8, 2)
optimizer = torch.optim.SGD([*to_qkv.parameters(), *head.parameters()], lr=0.01)
x, y = torch.randn(6, 5, 8), torch.randint(0, 2, (6,))
lengths = torch.tensor([5, 3, 4, 2, 5, 3])
keep = torch.arange(5) < lengths[:, None]
for step in range(3):
    q, k, v = to_qkv(x).chunk(3, dim=-1)
    scores = q @ k.transpose(1, 2) / 8**0.5
    weights = scores.softmax(dim=-1)
    weights = weights.masked_fill(~keep[:, None, :], -1e9)
    loss = nn.functional.cross_entropy(head((weights @ v)[:, 0]), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
