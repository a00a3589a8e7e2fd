"""Loss functions written out and held against torch's."""
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)
logits, target = torch.randn(4, 3, requires_grad=True), torch.tensor([0, 2, 1, 1])
log_probs = logits - torch.logsumexp(logits, dim=1, keepdim=True)
ce = -log_probs[torch.arange(4), target].mean()
print(torch.allclose(ce, F.cross_entropy(logits, target)), torch.allclose(F.nll_loss(F.log_softmax(logits, 1), target), ce))
ce.backward()
print(torch.allclose(logits.grad, (F.softmax(logits, 1) - F.one_hot(target, 3)).detach() / 4))
weights = torch.tensor([1.0, 2.0, 0.5])
print(nn.CrossEntropyLoss(weight=weights)(logits, target), nn.CrossEntropyLoss(label_smoothing=0.1)(logits, target), nn.CrossEntropyLoss(ignore_index=1)(logits, target))
p, y = torch.sigmoid(torch.randn(5)), torch.tensor([1.0, 0, 1, 1, 0])
print(torch.allclose(-(y * p.log() + (1 - y) * (1 - p).log()).mean(), F.binary_cross_entropy(p, y)))
z = torch.randn(5)
print(torch.allclose(F.binary_cross_entropy_with_logits(z, y), (z.clamp(min=0) - z * y + torch.log1p(torch.exp(-z.abs()))).mean()))
a, b = torch.randn(6), torch.randn(6)
print(torch.allclose(F.mse_loss(a, b), ((a - b) ** 2).mean()), torch.allclose(F.l1_loss(a, b), (a - b).abs().mean()))
d = (a - b).abs()
print(torch.allclose(F.huber_loss(a, b, delta=1.0), torch.where(d < 1, 0.5 * d ** 2, d - 0.5).mean()), torch.allclose(F.smooth_l1_loss(a, b), F.huber_loss(a, b)))
P, Q = F.softmax(torch.randn(2, 4), 1), F.softmax(torch.randn(2, 4), 1)
print(torch.allclose(F.kl_div(Q.log(), P, reduction="batchmean"), (P * (P.log() - Q.log())).sum(1).mean()))


class FocalLoss(nn.Module):
    def __init__(self, gamma=2.0, alpha=0.25):
        super().__init__()
        self.gamma, self.alpha = gamma, alpha

    def forward(self, inputs, targets):
        bce = F.binary_cross_entropy_with_logits(inputs, targets, reduction="none")
        pt = torch.exp(-bce)
        return (self.alpha * (1 - pt) ** self.gamma * bce).mean()


print(FocalLoss()(z, y), F.hinge_embedding_loss(a, torch.tensor([1, -1, 1, 1, -1, 1])), nn.MarginRankingLoss()(a, b, torch.ones(6)))
print(F.cross_entropy(logits, F.softmax(torch.randn(4, 3), 1)).requires_grad, nn.PoissonNLLLoss()(a, b.abs()), nn.GaussianNLLLoss()(a, b, torch.ones(6)))
log_p = F.log_softmax(torch.randn(5, 1, 4), 2)
print(F.ctc_loss(log_p, torch.tensor([[1, 2]]), torch.tensor([5]), torch.tensor([2])))
