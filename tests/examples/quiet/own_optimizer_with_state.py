import torch


class Momentum(torch.optim.Optimizer):
    def __init__(self, params, lr):
        super().__init__(params, {"lr": lr})

    @torch.no_grad()
    def step(self):
        for group in self.param_groups:
            for p in group["params"]:
                state = self.state[p]
                if "speed" not in state:
                    state["speed"] = torch.zeros_like(p)
                    state["start"] = p.data.clone()
                speed = state["speed"]
                speed.mul_(0.9).add_(p.grad)
                p.data.add_(speed, alpha=-group["lr"])


torch.manual_seed(0)
w = torch.randn(3, requires_grad=True)
optimizer = Momentum([w], 0.1)
for _ in range(3):
    optimizer.zero_grad()
    ((w - 1) ** 2).sum().backward()
    optimizer.step()
print(w)
