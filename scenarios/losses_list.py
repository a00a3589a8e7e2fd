import torch

w = torch.tensor(1.0, requires_grad=True)
losses = []

for x in [1.0, 2.0, 4.0]:
    loss = (w * x - 1) ** 2
    losses.append(loss)
    loss.backward()

print(w.grad)
print(losses)
