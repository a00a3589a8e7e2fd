# rounded integers, indices of cells, masks of zeros and ones, half-precision masks with -inf, a log with a dict for each round
import torch
from torch import nn

torch.manual_seed(0)
points = torch.rand(5, 2)
cells = (points * 4).floor().to(torch.int64)
counts = torch.zeros(4, 4).index_put_((cells[:, 0], cells[:, 1]), torch.ones(5), accumulate=True)
keep = (torch.tensor([0.2, 0.7, 0.9]) > 0.5).float().to(torch.int32)
weight = nn.Parameter(torch.randn(3))
quantized = (weight.detach() * 20).round().to(torch.int8)
loss = (weight * keep + quantized / 20).sum() + counts.sum()
scores = torch.randn(2, 3, dtype=torch.float16, requires_grad=True)
masked = scores + torch.tensor([0.0, 0.0, float("-inf")], dtype=torch.float16)
(loss + masked.softmax(dim=1).float().square().sum()).backward()
log, template = [], {"run": 1}
for epoch in range(3):
    row = dict(template)
    row["epoch"] = torch.tensor(float(epoch))
    log.append(row)
    log.append(template)
print(log, weight.grad, scores.grad)
