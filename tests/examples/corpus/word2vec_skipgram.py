"""Skip-gram with negative sampling, and an n-gram language model with embeddings."""
import torch
import torch.nn as nn
import torch.nn.functional as F

corpus = "the quick brown fox jumps over the lazy dog and the fox runs".split()
vocab = sorted(set(corpus))
word_to_ix = {word: i for i, word in enumerate(vocab)}
CONTEXT_SIZE, EMBEDDING_DIM = 2, 6
ngrams = [([corpus[i - j - 1] for j in range(CONTEXT_SIZE)], corpus[i]) for i in range(CONTEXT_SIZE, len(corpus))]
print(ngrams[:3])


class NGramLanguageModeler(nn.Module):
    def __init__(self, vocab_size, embedding_dim, context_size):
        super(NGramLanguageModeler, self).__init__()
        self.embeddings = nn.Embedding(vocab_size, embedding_dim)
        self.linear1 = nn.Linear(context_size * embedding_dim, 12)
        self.linear2 = nn.Linear(12, vocab_size)

    def forward(self, inputs):
        embeds = self.embeddings(inputs).view((1, -1))
        out = F.relu(self.linear1(embeds))
        return F.log_softmax(self.linear2(out), dim=1)


torch.manual_seed(1)
model = NGramLanguageModeler(len(vocab), EMBEDDING_DIM, CONTEXT_SIZE)
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
losses = []
for epoch in range(2):
    total_loss = 0
    for context, target in ngrams:
        context_idxs = torch.tensor([word_to_ix[w] for w in context], dtype=torch.long)
        model.zero_grad()
        log_probs = model(context_idxs)
        loss = nn.NLLLoss()(log_probs, torch.tensor([word_to_ix[target]], dtype=torch.long))
        loss.backward()
        optimizer.step()
        total_loss += loss.item()
    losses.append(round(total_loss, 3))
print(losses)
print(model.embeddings.weight[word_to_ix["fox"]])


class SkipGram(nn.Module):
    def __init__(self, vocab_size, dim):
        super().__init__()
        self.in_embed = nn.Embedding(vocab_size, dim, sparse=True)
        self.out_embed = nn.Embedding(vocab_size, dim, sparse=True)

    def forward(self, center, positive, negative):
        v = self.in_embed(center)
        pos = (self.out_embed(positive) * v).sum(-1)
        neg = torch.bmm(self.out_embed(negative), v.unsqueeze(2)).squeeze(2)
        return -(F.logsigmoid(pos) + F.logsigmoid(-neg).sum(1)).mean()


sg = SkipGram(len(vocab), 4)
opt = torch.optim.SparseAdam(sg.parameters(), lr=0.05)
center = torch.tensor([word_to_ix[w] for w in corpus[:-1]])
positive = torch.tensor([word_to_ix[w] for w in corpus[1:]])
for step in range(2):
    loss = sg(center, positive, torch.randint(len(vocab), (len(center), 3)))
    opt.zero_grad()
    loss.backward()
    opt.step()
    print(f"{loss.item():.4f}", sg.in_embed.weight.grad.is_sparse)
