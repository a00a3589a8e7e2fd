# zero_gradient at 16: rnn.weight_hh_l0_reverse.grad
import torch
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

torch.manual_seed(0)
rnn = nn.GRU(4, 6, batch_first=True, bidirectional=True)
head = nn.Linear(12, 2)
optimizer = torch.optim.SGD([*rnn.parameters(), *head.parameters()], lr=0.1)
lengths = torch.tensor([5, 4, 3, 2])
words, labels = torch.randn(4, 5, 4), torch.tensor([0, 1, 0, 1])
rows = torch.arange(4)
for epoch in range(3):
    optimizer.zero_grad()
    packed = pack_padded_sequence(words, lengths, batch_first=True)
    states, h_n = rnn(packed)
    states, _ = pad_packed_sequence(states, batch_first=True)
    loss = nn.functional.cross_entropy(head(states[rows, lengths - 1]), labels)
    loss.backward()
    optimizer.step()
