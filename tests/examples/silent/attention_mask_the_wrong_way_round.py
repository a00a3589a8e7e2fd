# attention_weights at 15: `keep`
import torch
from torch import nn

torch.manual_seed(0)
class Classifier(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb = nn.Embedding(12, 8)
        self.attn = nn.MultiheadAttention(8, 2, batch_first=True)
        self.fc = nn.Linear(8, 2)
    def forward(self, ids):
        keep = ids != 0
        x = self.emb(ids)
        h, _ = self.attn(x, x, x, key_padding_mask=keep)
        return self.fc(h.mean(1))
net = Classifier()
optimizer = torch.optim.Adam(net.parameters())
ids = torch.tensor([[5, 7, 3, 0], [4, 8, 0, 0], [6, 0, 0, 0]])
y = torch.tensor([0, 1, 1])
for step in range(3):
    loss = nn.functional.cross_entropy(net(ids), y)

    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, loss.item())
