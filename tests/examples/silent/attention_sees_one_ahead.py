# attention_weights at 17: `tril`
import torch
from torch import nn
import torch.nn.functional as F

torch.manual_seed(1)
V, T, E = 11, 5, 8
tok = nn.Embedding(V, E)
key, query, value, lm_head = nn.Linear(E, E, bias=False), nn.Linear(E, E, bias=False), nn.Linear(E, E, bias=False), nn.Linear(E, V)
params = [p for m in (tok, key, query, value, lm_head) for p in m.parameters()]
optimizer = torch.optim.SGD(params, lr=0.1)
tril = torch.tril(torch.ones(T, T), diagonal=1)
data = torch.randint(0, V, (3, T + 1))
for step in range(3):
    x = tok(data[:, :-1])
    wei = query(x) @ key(x).transpose(-2, -1) * E ** -0.5
    wei = wei.masked_fill(tril == 0, float('-inf'))
    wei = torch.softmax(wei, dim=-1)
    h = wei @ value(x)
    loss = F.cross_entropy(lm_head(h).view(-1, V), data[:, 1:].reshape(-1))

    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, loss.item())
