"""The same quadratic under ten optimizers."""
import torch

A = torch.tensor([[3.0, 0.5], [0.5, 1.0]])
start = torch.tensor([2.0, -1.5])


def loss_fn(w):
    return 0.5 * w @ A @ w


optimizers = {
    "SGD": lambda p: torch.optim.SGD(p, lr=0.1),
    "momentum": lambda p: torch.optim.SGD(p, lr=0.1, momentum=0.9),
    "nesterov": lambda p: torch.optim.SGD(p, lr=0.1, momentum=0.9, nesterov=True),
    "Adagrad": lambda p: torch.optim.Adagrad(p, lr=0.5),
    "RMSprop": lambda p: torch.optim.RMSprop(p, lr=0.1),
    "Adam": lambda p: torch.optim.Adam(p, lr=0.1),
    "AdamW": lambda p: torch.optim.AdamW(p, lr=0.1, weight_decay=0.1),
    "NAdam": lambda p: torch.optim.NAdam(p, lr=0.1),
    "Adadelta": lambda p: torch.optim.Adadelta(p, lr=1.0),
    "Rprop": lambda p: torch.optim.Rprop(p, lr=0.1),
}
for name, make in optimizers.items():
    w = start.clone().requires_grad_()
    opt = make([w])
    for step in range(4):
        opt.zero_grad()
        loss = loss_fn(w)
        loss.backward()
        opt.step()
    print(f"{name:10s} {loss_fn(w).item():.5f} {[round(v, 4) for v in w.tolist()]}")
w = start.clone().requires_grad_()
opt = torch.optim.LBFGS([w], lr=1, max_iter=4)


def closure():
    opt.zero_grad()
    loss = loss_fn(w)
    loss.backward()
    return loss


first = opt.step(closure)
print(round(first.item(), 4), loss_fn(w).item() < 1e-3)
