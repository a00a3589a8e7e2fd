# Adding losses up keeps every step's graph; adding numbers does not.
import torch
w = torch.tensor(2.0, requires_grad=True)
total, number = 0, 0.0
for n in range(3):
    loss = w * n
    total = total + loss
    number += loss.item()
total.backward()
print(total, number, w.grad)
