# wrong_gradient at 5: w
import torch
w = torch.tensor([3.0, 4.0], requires_grad=True)
y = (w * w).sum()
w.data /= w.data.norm()
y.backward()
print(w.grad)
