# clip_after_step at 12: optimizer, clip_grad_value_
import torch
from torch import nn
torch.manual_seed(0)
lstm, out = nn.LSTM(2, 4, batch_first=True), nn.Linear(4, 1)
params = [*lstm.parameters(), *out.parameters()]
optimizer = torch.optim.RMSprop(params, lr=0.01)
for _ in range(3):
    loss = (out(lstm(torch.randn(2, 5, 2))[0]) * 30).pow(2).mean()
    loss.backward()
    optimizer.step()
    nn.utils.clip_grad_value_(params, 0.1)
    optimizer.zero_grad()
