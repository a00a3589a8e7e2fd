"""Domain-adversarial training: one backward through two heads with reversed gradients."""
import torch
from torch import nn


class Reverse(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, lam):
        ctx.lam = lam
        return x.clone()

    @staticmethod
    def backward(ctx, g):
        return -ctx.lam * g, None


torch.manual_seed(0)
feature = nn.Sequential(nn.Linear(4, 8), nn.ReLU())
label_head, domain_head = nn.Linear(8, 2), nn.Linear(8, 2)
params = [p for m in (feature, label_head, domain_head) for p in m.parameters()]
opt = torch.optim.SGD(params, lr=0.1, momentum=0.9)
xs, ys, xt = torch.randn(8, 4), torch.randint(2, (8,)), torch.randn(8, 4) + 1
ce = nn.CrossEntropyLoss()
for step in range(3):
    p = step / 3
    lam = 2.0 / (1.0 + torch.exp(torch.tensor(-10.0 * p))).item() - 1
    fs, ft = feature(xs), feature(xt)
    both = torch.cat([fs, ft])
    domain = torch.cat([torch.zeros(8), torch.ones(8)]).long()
    loss_y, loss_d = ce(label_head(fs), ys), ce(domain_head(Reverse.apply(both, lam)), domain)
    opt.zero_grad()
    (loss_y + loss_d).backward()
    opt.step()
    print(step, f"{lam:.3f} {loss_y.item():.4f} {loss_d.item():.4f}")
print(feature[0].weight.grad.shape)
