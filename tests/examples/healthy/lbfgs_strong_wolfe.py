import torch

torch.manual_seed(0)

w = torch.zeros(2, requires_grad=True)
a = torch.tensor([[3.0, 1.0], [1.0, 2.0]])
b = torch.tensor([1.0, -1.0])
optimizer = torch.optim.LBFGS([w], max_iter=8, line_search_fn="strong_wolfe")


def closure():
    optimizer.zero_grad()
    loss = 0.5 * w @ a @ w - b @ w
    loss.backward()
    return loss


optimizer.step(closure)
print(w.detach(), torch.linalg.solve(a, b))
