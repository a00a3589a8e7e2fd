import torch

first = torch.ones(2)
second = torch.ones(3)
print(torch.cat([first, second]))

padded = torch.nn.utils.rnn.pad_sequence([first, second], batch_first=True)
print(padded)
torch.stack([first, second])
