import torch
from torch import nn

torch.manual_seed(0)
rnn = nn.LSTM(2, 3, batch_first=True)
optimizer = torch.optim.SGD(rnn.parameters(), lr=0.1)
state = None
for _ in range(3):
    out, state = rnn(torch.randn(1, 4, 2), state)
    loss = out.pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    for s in state:
        s.detach_()
