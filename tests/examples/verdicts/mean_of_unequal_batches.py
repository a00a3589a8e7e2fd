import torch

w = torch.tensor(1.0, requires_grad=True)
errors = torch.tensor([1.0, 1.0, 1.0, 1.0, 3.0])
batches = errors.split(4)
total = 0.0
for batch in batches:
    loss = (w * batch).pow(2).mean()
    loss.backward()
    total += loss.item()

print(total / len(batches))
print((w * errors).pow(2).mean().item())
