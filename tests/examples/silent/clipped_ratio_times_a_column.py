# shape_mismatch at 10: gain, ratio, 6 × 6
import torch

torch.manual_seed(0)
scores = torch.randn(6, requires_grad=True)
gain, before = torch.randn(6, 1), torch.randn(6)
optimizer = torch.optim.SGD([scores], lr=0.1)
for k in range(2):
    ratio = (scores - before).exp()
    plain = ratio * gain
    loss = -torch.minimum(plain, ratio.clamp(0.8, 1.2) * gain).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
