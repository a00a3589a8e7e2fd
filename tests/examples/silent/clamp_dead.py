# zero_gradient at 7: w
import torch
w = torch.tensor([3.0, 5.0], requires_grad=True)
opt = torch.optim.SGD([w], lr=0.1)
for _ in range(2):
    opt.zero_grad()
    loss = torch.clamp(w, 0, 1).sum()
    loss.backward()
    opt.step()
print(w, w.grad)
