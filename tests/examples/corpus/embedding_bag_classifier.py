"""Text classification with EmbeddingBag: tokeniser, vocabulary, offsets."""
import re
from collections import Counter

import torch
from torch import nn

samples = [(1, "Wall Street rallies as oil prices fall"), (2, "Team wins the final game of the season"),
           (1, "Stocks and oil markets slide"), (2, "The coach praises his team after the game")]


def tokenizer(text):
    return re.findall(r"[a-z]+", text.lower())


counter = Counter(token for _, text in samples for token in tokenizer(text))
itos = ["<unk>"] + [token for token, _ in sorted(counter.items(), key=lambda kv: (-kv[1], kv[0]))]
stoi = {token: i for i, token in enumerate(itos)}
text_pipeline = lambda x: [stoi.get(token, 0) for token in tokenizer(x)]
label_pipeline = lambda x: int(x) - 1
print(text_pipeline("here is the oil game"))


def collate_batch(batch):
    label_list, text_list, offsets = [], [], [0]
    for _label, _text in batch:
        label_list.append(label_pipeline(_label))
        processed_text = torch.tensor(text_pipeline(_text), dtype=torch.int64)
        text_list.append(processed_text)
        offsets.append(processed_text.size(0))
    label_list = torch.tensor(label_list, dtype=torch.int64)
    offsets = torch.tensor(offsets[:-1]).cumsum(dim=0)
    text_list = torch.cat(text_list)
    return label_list, text_list, offsets


class TextClassificationModel(nn.Module):
    def __init__(self, vocab_size, embed_dim, num_class):
        super(TextClassificationModel, self).__init__()
        self.embedding = nn.EmbeddingBag(vocab_size, embed_dim, sparse=False)
        self.fc = nn.Linear(embed_dim, num_class)
        self.init_weights()

    def init_weights(self):
        initrange = 0.5
        self.embedding.weight.data.uniform_(-initrange, initrange)
        self.fc.weight.data.uniform_(-initrange, initrange)
        self.fc.bias.data.zero_()

    def forward(self, text, offsets):
        embedded = self.embedding(text, offsets)
        return self.fc(embedded)


torch.manual_seed(0)
dataloader = torch.utils.data.DataLoader(samples, batch_size=2, shuffle=False, collate_fn=collate_batch)
model = TextClassificationModel(len(itos), 4, 2)
criterion = torch.nn.CrossEntropyLoss()
optimizer = torch.optim.SGD(model.parameters(), lr=0.5)
for epoch in range(3):
    total_acc, total_count = 0, 0
    for idx, (label, text, offsets) in enumerate(dataloader):
        optimizer.zero_grad()
        predicted_label = model(text, offsets)
        loss = criterion(predicted_label, label)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 0.1)
        optimizer.step()
        total_acc += (predicted_label.argmax(1) == label).sum().item()
        total_count += label.size(0)
    print(f"| epoch {epoch} | accuracy {total_acc / total_count:8.3f} {loss.item():.4f}")
with torch.no_grad():
    text = torch.tensor(text_pipeline("oil prices"))
    print(model(text, torch.tensor([0])).argmax(1).item() + 1)
