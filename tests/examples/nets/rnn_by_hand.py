import torch
from torch import nn

torch.manual_seed(0)
text = "hello hello world"
chars = sorted(set(text))
index = {c: i for i, c in enumerate(chars)}


class RNN(nn.Module):
    def __init__(self, size, hidden):
        super().__init__()
        self.hidden = hidden
        self.i2h, self.h2o = nn.Linear(size + hidden, hidden), nn.Linear(hidden, size)

    def step(self, x, h):
        h = torch.tanh(self.i2h(torch.cat([x, h], dim=1)))
        return self.h2o(h), h

    def forward(self, inputs):
        h = torch.zeros(1, self.hidden)
        outputs = []
        for x in inputs:
            y, h = self.step(x, h)
            outputs.append(y)
        return torch.cat(outputs)


rnn = RNN(len(chars), 6)
opt = torch.optim.SGD(rnn.parameters(), lr=0.1)
ids = torch.tensor([index[c] for c in text])
for epoch in range(2):
    inputs = nn.functional.one_hot(ids[:-1], len(chars)).float().unsqueeze(1)
    loss = nn.functional.cross_entropy(rnn(inputs), ids[1:])
    opt.zero_grad()
    loss.backward()
    opt.step()
