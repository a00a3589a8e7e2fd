import torch
from torch import nn

torch.manual_seed(0)

signal = torch.randn(8)
filter_ = nn.Parameter(torch.ones(5))
optimizer = torch.optim.SGD([filter_], lr=0.1)
for _ in range(3):
    out = torch.fft.irfft(torch.fft.rfft(signal) * filter_, n=8)
    loss = out.pow(2).mean() + filter_.pow(2).sum()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(filter_.data)
