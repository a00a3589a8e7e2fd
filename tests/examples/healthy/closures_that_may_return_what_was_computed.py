import torch

torch.manual_seed(0)
w = torch.tensor([3.0, -2.0], requires_grad=True)
once, plain = torch.optim.LBFGS([w], max_iter=1), torch.optim.SGD([w], lr=0.1)
by_hand = torch.optim.LBFGS([w], max_iter=3)
for optimizer in (once, plain):
    for _ in range(2):
        optimizer.zero_grad()
        loss = (w**2).sum()
        loss.backward()

        def closure():
            return loss

        optimizer.step(closure)


def gradient_by_formula():
    with torch.no_grad():
        w.grad = 2 * w
        return (w**2).sum()


by_hand.step(gradient_by_formula)
w.grad = torch.zeros(2)


def gradient_written_by_formula():
    with torch.no_grad():
        w.grad.copy_(2 * w)
        return (w**2).sum()


by_hand.step(gradient_written_by_formula)
print(w)
