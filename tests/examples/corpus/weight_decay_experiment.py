"""Weight decay from scratch and by the optimizer's option."""
import torch
from torch import nn

torch.manual_seed(0)
n_train, num_inputs = 10, 20
true_w, true_b = torch.ones((num_inputs, 1)) * 0.01, 0.05
X = torch.randn(n_train, num_inputs)
y = X @ true_w + true_b + 0.01 * torch.randn(n_train, 1)


def l2_penalty(w):
    return torch.sum(w.pow(2)) / 2


def train(lambd):
    torch.manual_seed(1)
    w = torch.normal(0, 1, size=(num_inputs, 1), requires_grad=True)
    b = torch.zeros(1, requires_grad=True)
    for epoch in range(10):
        l = ((X @ w + b - y) ** 2 / 2 + lambd * l2_penalty(w))
        l.sum().backward()
        with torch.no_grad():
            for param in (w, b):
                param -= 0.03 * param.grad / n_train
                param.grad.zero_()
    return torch.norm(w).item()


print("L2 norm of w, lambda 0:", round(train(0), 4), "lambda 3:", round(train(3), 4))


def train_concise(wd):
    torch.manual_seed(2)
    net = nn.Sequential(nn.Linear(num_inputs, 1))
    for param in net.parameters():
        param.data.normal_()
    loss = nn.MSELoss(reduction="none")
    trainer = torch.optim.SGD([{"params": net[0].weight, "weight_decay": wd}, {"params": net[0].bias}], lr=0.01)
    for epoch in range(10):
        trainer.zero_grad()
        l = loss(net(X), y)
        l.mean().backward()
        trainer.step()
    return net[0].weight.norm().item()


print(round(train_concise(0), 4), round(train_concise(3), 4))
