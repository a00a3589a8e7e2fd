import torch
from torch import nn

torch.manual_seed(0)
first, second = nn.LSTM(4, 6, batch_first=True), nn.LSTM(6, 6, batch_first=True)
head, aux = nn.Linear(6, 3), nn.Linear(6, 3)
optimizer = torch.optim.Adam([*first.parameters(), *second.parameters(), *head.parameters(), *aux.parameters()])
for step in range(4):
    x, y = torch.randn(5, 7, 4), torch.randint(0, 3, (5,))
    out, state = first(x)
    out, state = second(out)
    scores = head(out[:, -1])
    if step % 2:
        scores = scores + aux(out.mean(1))
    best = scores
    loss = nn.functional.cross_entropy(best, y)
    for _ in range(2):
        noise = head(torch.randn(2, 6))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    loss = loss.item()
    print(step, loss, noise.shape)
