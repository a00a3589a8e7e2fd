# closure_computes_nothing at 15: `optimizer`, closure
import torch

torch.manual_seed(0)
w = torch.tensor([3.0, -2.0], requires_grad=True)
target = torch.randn(2)
optimizer = torch.optim.LBFGS([w], max_iter=4)
for _ in range(2):
    optimizer.zero_grad()
    loss = ((w - target) ** 4).sum()
    loss.backward()

    def closure():
        # the loss and the gradients of where w was before
        return loss

    optimizer.step(closure)
print(w)
