# zero_gradient at 4: w
import torch
w = torch.tensor(200., requires_grad=True)
loss = (torch.sigmoid(w) - 0) ** 2
loss.backward()
print(w.grad)
