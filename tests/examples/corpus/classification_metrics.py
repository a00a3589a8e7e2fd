"""Metrics by hand: accuracy, precision, recall, F1, ROC AUC, top-k, IoU, perplexity."""
import math

import torch

torch.manual_seed(0)
logits = torch.randn(20, 4)
target = torch.randint(4, (20,))
pred = logits.argmax(1)
print((pred == target).float().mean())
cm = torch.zeros(4, 4, dtype=torch.long)
cm.index_put_((target, pred), torch.ones(20, dtype=torch.long), accumulate=True)
print(cm, cm.sum())
tp = cm.diag().float()
precision, recall = tp / cm.sum(0).clamp(min=1), tp / cm.sum(1).clamp(min=1)
f1 = 2 * precision * recall / (precision + recall).clamp(min=1e-8)
print(precision, recall, f1.mean())
for k in (1, 2, 3):
    topk = logits.topk(k, dim=1).indices
    print(k, (topk == target.unsqueeze(1)).any(1).float().mean().item())
scores, y = torch.rand(15), torch.randint(2, (15,))
order = scores.argsort(descending=True)
tps, fps = y[order].cumsum(0), (1 - y[order]).cumsum(0)
auc = torch.trapezoid(torch.cat([torch.zeros(1), tps / tps[-1]]), torch.cat([torch.zeros(1), fps / fps[-1]]))
pairs = (scores[y == 1][:, None] > scores[y == 0][None, :]).float().mean()
print(torch.allclose(auc, pairs, atol=1e-5))
a, b = torch.zeros(4, 4, dtype=torch.bool), torch.zeros(4, 4, dtype=torch.bool)
a[:2], b[1:3] = True, True
print((a & b).sum() / (a | b).sum())
print(math.exp(torch.nn.functional.cross_entropy(logits, target).item()) > 1)
boxes1, boxes2 = torch.tensor([[0.0, 0, 2, 2], [1, 1, 3, 3]]), torch.tensor([[1.0, 1, 2, 2]])
lt, rb = torch.max(boxes1[:, None, :2], boxes2[:, :2]), torch.min(boxes1[:, None, 2:], boxes2[:, 2:])
inter = (rb - lt).clamp(min=0).prod(2)
area = lambda b: (b[:, 2:] - b[:, :2]).prod(1)
print(inter / (area(boxes1)[:, None] + area(boxes2) - inter))
