# term_moves_nothing at 4: 正则 = w.pow(2).sum().item(), loss
import torch
w = torch.ones(2, requires_grad=True)
正则 = w.pow(2).sum().item()
loss = 0.1 * (正则) + w.sum()
loss.backward()
