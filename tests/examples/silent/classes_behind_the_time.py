# axes_confused at 13: `scores`
import torch
from torch import nn

torch.manual_seed(0)
lstm = nn.LSTM(4, 6, batch_first=True)
tag = nn.Linear(6, 5)
optimizer = torch.optim.Adam([*lstm.parameters(), *tag.parameters()])
x, tags = torch.randn(3, 5, 4), torch.randint(0, 5, (3, 5))
loss_fn = nn.CrossEntropyLoss()
for step in range(3):
    scores = tag(lstm(x)[0])
    loss = loss_fn(scores, tags)

    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, loss.item())
