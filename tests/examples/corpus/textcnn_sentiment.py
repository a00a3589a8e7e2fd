"""A TextCNN over embeddings with several kernel widths, for sentiment."""
import torch
from torch import nn

sentences = ["this movie is great", "what a terrible film", "i loved it", "boring and bad", "really good fun", "i hated it"]
labels = torch.tensor([1, 0, 1, 0, 1, 0])
vocab = {"<pad>": 0, "<unk>": 1}
for sentence in sentences:
    for token in sentence.split():
        vocab.setdefault(token, len(vocab))


def encode(sentence, length=5):
    ids = [vocab.get(t, 1) for t in sentence.split()][:length]
    return ids + [0] * (length - len(ids))


class TextCNN(nn.Module):
    def __init__(self, vocab_size, embed_size, kernel_sizes, num_channels):
        super().__init__()
        self.embedding = nn.Embedding(vocab_size, embed_size, padding_idx=0)
        self.constant_embedding = nn.Embedding(vocab_size, embed_size)
        self.constant_embedding.weight.requires_grad = False
        self.dropout = nn.Dropout(0.2)
        self.decoder = nn.Linear(sum(num_channels), 2)
        self.pool = nn.AdaptiveAvgPool1d(1)
        self.convs = nn.ModuleList(nn.Conv1d(2 * embed_size, c, k) for c, k in zip(num_channels, kernel_sizes))

    def forward(self, inputs):
        embeddings = torch.cat((self.embedding(inputs), self.constant_embedding(inputs)), dim=2)
        embeddings = embeddings.permute(0, 2, 1)
        encoding = torch.cat([torch.squeeze(torch.relu(self.pool(conv(embeddings))), dim=-1) for conv in self.convs], dim=1)
        return self.decoder(self.dropout(encoding))


torch.manual_seed(0)
net = TextCNN(len(vocab), 4, [2, 3], [3, 3])
x = torch.tensor([encode(s) for s in sentences])
trainer = torch.optim.Adam((p for p in net.parameters() if p.requires_grad), lr=0.05)
for epoch in range(5):
    net.train()
    loss = nn.functional.cross_entropy(net(x), labels)
    trainer.zero_grad()
    loss.backward()
    trainer.step()
net.eval()
with torch.no_grad():
    print(f"{loss.item():.4f}", net(torch.tensor([encode("i loved this film")])).argmax(1).item(), (net(x).argmax(1) == labels).float().mean())
print(net.embedding.weight.grad[0], net.constant_embedding.weight.grad)
