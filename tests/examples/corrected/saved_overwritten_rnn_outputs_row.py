import torch
torch.manual_seed(0)
W = torch.randn(3, 3, requires_grad=True)
rows = [torch.ones(3)]
for t in range(1, 4):
    rows.append(torch.tanh(W @ rows[-1]))
loss = torch.stack(rows).sum()
loss.backward()
