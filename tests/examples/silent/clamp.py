# zero_gradient at 4: w
import torch
w = torch.tensor([3., 4.], requires_grad=True)
loss = w.clamp(0, 1).sum()
loss.backward()
print(w.grad)
