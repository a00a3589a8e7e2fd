import torch
from torch import nn

torch.manual_seed(0)


class Translator(nn.Module):
    def __init__(self):
        super().__init__()
        self.source, self.target = nn.Embedding(9, 8), nn.Embedding(9, 8)
        self.transformer = nn.Transformer(8, 2, 2, 2, 16, dropout=0.0, batch_first=True)
        self.generator = nn.Linear(8, 9)

    def forward(self, source, target):
        mask = nn.Transformer.generate_square_subsequent_mask(target.size(1))
        hidden = self.transformer(self.source(source), self.target(target), tgt_mask=mask)
        return self.generator(hidden)


model = Translator()
opt = torch.optim.Adam(model.parameters(), betas=(0.9, 0.98))
source, target = torch.randint(0, 9, (2, 4)), torch.randint(0, 9, (2, 5))
for _ in range(2):
    logits = model(source, target[:, :-1])
    loss = nn.functional.cross_entropy(logits.reshape(-1, 9), target[:, 1:].reshape(-1))
    opt.zero_grad()
    loss.backward()
    opt.step()
