"""The forward algorithm of a CRF over emissions, its partition function, and Viterbi decoding."""
import torch
import torch.nn as nn


def log_sum_exp(vec):
    max_score = vec.max()
    return max_score + torch.log(torch.sum(torch.exp(vec - max_score)))


class CRF(nn.Module):
    def __init__(self, tags):
        super().__init__()
        self.tags = tags
        self.transitions = nn.Parameter(torch.randn(tags, tags))
        self.start = nn.Parameter(torch.randn(tags))

    def partition(self, feats):
        alpha = self.start + feats[0]
        for feat in feats[1:]:
            rows = []
            for next_tag in range(self.tags):
                rows.append(log_sum_exp(alpha + self.transitions[next_tag] + feat[next_tag]))
            alpha = torch.stack(rows)
        return log_sum_exp(alpha)

    def score(self, feats, tags):
        score = self.start[tags[0]] + feats[0, tags[0]]
        for i in range(1, len(feats)):
            score = score + self.transitions[tags[i], tags[i - 1]] + feats[i, tags[i]]
        return score

    def viterbi(self, feats):
        backpointers = []
        score = self.start + feats[0]
        for feat in feats[1:]:
            best, pointers = (score.unsqueeze(0) + self.transitions).max(1)
            backpointers.append(pointers)
            score = best + feat
        path = [int(score.argmax())]
        for pointers in reversed(backpointers):
            path.append(int(pointers[path[-1]]))
        return path[::-1], score.max()


torch.manual_seed(1)
lstm, proj, crf = nn.LSTM(3, 4 // 2, bidirectional=True), nn.Linear(4, 3), CRF(3)
params = [*lstm.parameters(), *proj.parameters(), *crf.parameters()]
optimizer = torch.optim.SGD(params, lr=0.1, weight_decay=1e-4)
sentence, tags = torch.randn(4, 3), torch.tensor([0, 2, 1, 1])
for epoch in range(3):
    feats = proj(lstm(sentence)[0])
    loss = crf.partition(feats) - crf.score(feats, tags)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(epoch, f"{loss.item():.4f}")
with torch.no_grad():
    print(crf.viterbi(proj(lstm(sentence)[0])))
