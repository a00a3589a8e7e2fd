# Batch norm moves its buffers; an LSTM gives three outputs; attention averages.
import torch
from torch import nn
norm = nn.BatchNorm1d(2)
norm(torch.tensor([[1.0, 2.0], [3.0, 4.0]]))
print(norm.running_mean, norm.num_batches_tracked, [name for name, _ in norm.named_buffers()])
lstm = nn.LSTM(2, 3)
out, (h, c) = lstm(torch.ones(2, 1, 2))
out.sum().backward()
print(lstm.weight_ih_l0.grad.shape, h.shape, c.shape)
mixed, weights = nn.MultiheadAttention(2, 1)(*[torch.ones(2, 1, 2)] * 3)
print(mixed.shape, weights)
