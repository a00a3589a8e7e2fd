import torch
from torch import nn

torch.manual_seed(0)


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed, self.lstm = nn.Embedding(11, 6), nn.LSTM(6, 8, batch_first=True)

    def forward(self, words):
        return self.lstm(self.embed(words))


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.score = nn.Linear(16, 1)

    def forward(self, h, memory):
        both = torch.cat([h.unsqueeze(1).expand_as(memory), memory], dim=-1)
        weights = torch.softmax(self.score(torch.tanh(both)).squeeze(-1), dim=1)
        return (weights.unsqueeze(-1) * memory).sum(1)


class Decoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed, self.cell = nn.Embedding(11, 6), nn.LSTMCell(14, 8)
        self.attention, self.out = Attention(), nn.Linear(16, 11)

    def forward(self, words, memory, state):
        h, c = state
        logits = []
        for t in range(words.size(1)):
            context = self.attention(h, memory)
            h, c = self.cell(torch.cat([self.embed(words[:, t]), context], dim=-1), (h, c))
            logits.append(self.out(torch.cat([h, context], dim=-1)))
        return torch.stack(logits, dim=1)


encoder, decoder = Encoder(), Decoder()
loss_fn = nn.CrossEntropyLoss()
opt = torch.optim.Adam([*encoder.parameters(), *decoder.parameters()])
source, target = torch.randint(0, 11, (2, 4)), torch.randint(0, 11, (2, 5))


def train_step():
    memory, (h, c) = encoder(source)
    logits = decoder(target[:, :-1], memory, (h[0], c[0]))
    loss = loss_fn(logits.flatten(0, 1), target[:, 1:].flatten())
    opt.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(encoder.parameters(), 1.0)
    opt.step()
    return loss.item()


for step in range(2):
    print(step, train_step())
