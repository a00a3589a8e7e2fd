# grad_none at 4: w, b
import torch
params = torch.zeros(4, requires_grad=True)
w, b = params[:3], params[3:]
loss = ((torch.ones(5, 3) @ w + b) ** 2).sum()
loss.backward()
print(w.grad, b.grad, params.grad)
