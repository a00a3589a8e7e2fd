import torch
w = torch.zeros(2, device="cuda", requires_grad=True)
x = torch.tensor([[1.0, 2.0], [3.0, -1.0]], device="cuda")
for i in range(400):
    loss = (x @ w - 1).square().sum()
    loss.backward()
    with torch.no_grad():
        w -= 0.02 * w.grad
        w.grad.zero_()
print([round(value, 3) for value in w.tolist()])
