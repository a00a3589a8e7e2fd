"""SGD with momentum against plain SGD in a narrow valley: the trajectories."""
import torch

valley = lambda p: 0.1 * p[0] ** 2 + 2 * p[1] ** 2
paths = {}
for name, options in {"sgd": {}, "momentum": {"momentum": 0.5}, "nesterov": {"momentum": 0.5, "nesterov": True}, "dampened": {"momentum": 0.5, "dampening": 0.5}}.items():
    p = torch.tensor([-5.0, -2.0], requires_grad=True)
    optimizer = torch.optim.SGD([p], lr=0.4, **options)
    path = [p.detach().clone()]
    for step in range(6):
        optimizer.zero_grad()
        loss = valley(p)
        loss.backward()
        optimizer.step()
        path.append(p.detach().clone())
    paths[name] = torch.stack(path)
    print(name, paths[name][-1], f"{loss.item():.4f}")
    if options:
        print(sorted(optimizer.state[p]), optimizer.state[p]["momentum_buffer"])
print({k: tuple(v.shape) for k, v in paths.items()}, (paths["momentum"][-1] - paths["sgd"][-1]).norm() > 0)
