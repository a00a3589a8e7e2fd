from collections import OrderedDict

import torch
from torch import nn

torch.manual_seed(0)


class Output(OrderedDict):
    """As Hugging Face's: a dict whose items are attributes too."""

    def __getattr__(self, name):
        return self[name]


class BertSelfAttention(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.query, self.key, self.value = nn.Linear(d, d), nn.Linear(d, d), nn.Linear(d, d)

    def forward(self, x):
        scores = self.query(x) @ self.key(x).transpose(-1, -2) / x.size(-1) ** 0.5
        return scores.softmax(-1) @ self.value(x)


class BertSelfOutput(nn.Module):
    def __init__(self, inside, d):
        super().__init__()
        self.dense, self.LayerNorm, self.dropout = nn.Linear(inside, d), nn.LayerNorm(d), nn.Dropout(0.1)

    def forward(self, hidden, x):
        return self.LayerNorm(self.dropout(self.dense(hidden)) + x)


class BertAttention(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.self, self.output = BertSelfAttention(d), BertSelfOutput(d, d)

    def forward(self, x):
        return self.output(self.self(x), x)


class BertIntermediate(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.dense, self.intermediate_act_fn = nn.Linear(d, 2 * d), nn.GELU()

    def forward(self, x):
        return self.intermediate_act_fn(self.dense(x))


class BertLayer(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.attention, self.intermediate, self.output = BertAttention(d), BertIntermediate(d), BertSelfOutput(2 * d, d)

    def forward(self, x):
        x = self.attention(x)
        return (self.output(self.intermediate(x), x),)


class BertEncoder(nn.Module):
    def __init__(self, d, layers):
        super().__init__()
        self.layer = nn.ModuleList(BertLayer(d) for _ in range(layers))

    def forward(self, x):
        for layer_module in self.layer:
            x = layer_module(x)[0]
        return x


class BertModel(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.embeddings = nn.ModuleDict({"word": nn.Embedding(13, d), "norm": nn.LayerNorm(d)})
        self.encoder, self.pooler = BertEncoder(d, 6), nn.Linear(d, d)

    def forward(self, ids):
        x = self.encoder(self.embeddings["norm"](self.embeddings["word"](ids)))
        return torch.tanh(self.pooler(x[:, 0]))


class Classifier(nn.Module):
    def __init__(self, d=8):
        super().__init__()
        self.bert, self.dropout, self.classifier = BertModel(d), nn.Dropout(0.1), nn.Linear(d, 2)

    def forward(self, ids, labels):
        logits = self.classifier(self.dropout(self.bert(ids)))
        return Output(logits=logits, loss=nn.functional.cross_entropy(logits, labels))


model = Classifier()
optimizer = torch.optim.AdamW(model.parameters(), lr=5e-5)
out = model(torch.randint(0, 13, (2, 4)), labels=torch.tensor([0, 1]))
out.loss.backward()
optimizer.step()
