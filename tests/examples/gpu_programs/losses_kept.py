import torch
w = torch.ones(5000, device="cuda", requires_grad=True)
before = torch.cuda.memory_allocated()
losses = []
for i in range(5):
    losses.append((w * i).sin().sum())
print(torch.cuda.memory_allocated() - before > 5 * 5000 * 4)
del losses
print(torch.cuda.memory_allocated() - before < 5 * 5000 * 4)
