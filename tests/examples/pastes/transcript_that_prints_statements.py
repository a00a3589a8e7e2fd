import torch
loss = torch.tensor(0.5)
print('loss =', loss.item())
print(f'lr = {1 / 4}')
