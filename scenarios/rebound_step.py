import torch

w = torch.tensor([4.0, 8.0], requires_grad=True)

for _ in range(2):
    loss = (w * w).sum()
    loss.backward()
    with torch.no_grad():
        w = w - w.grad / 4
    print(w)
