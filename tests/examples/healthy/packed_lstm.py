import torch
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence
torch.manual_seed(0)
lstm, head = nn.LSTM(2, 4, batch_first=True), nn.Linear(4, 1)
opt = torch.optim.Adam([*lstm.parameters(), *head.parameters()], lr=0.01)
x, lengths, y = torch.randn(3, 5, 2), torch.tensor([5, 3, 2]), torch.randn(3, 1)
for _ in range(2):
    packed = pack_padded_sequence(x, lengths, batch_first=True)
    out, (h, c) = lstm(packed)
    padded, sizes = pad_packed_sequence(out, batch_first=True)
    loss = nn.functional.mse_loss(head(h[-1]), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
print(padded.shape, loss.item())
