# saved_overwritten: h next
import torch
torch.manual_seed(0)
W = torch.randn(3, 3, requires_grad=True)
h = torch.zeros(4, 3)
h[0] = torch.ones(3)
for t in range(1, 4):
    h[t] = torch.tanh(W @ h[t - 1])  # cause
loss = h.sum()
loss.backward()
