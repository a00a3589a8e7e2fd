# Adam keeps a step and two moments for each parameter.
import torch
w = torch.tensor([1.0], requires_grad=True)
opt = torch.optim.Adam([{"params": [w], "lr": 0.5}], betas=(0.5, 0.5))
(w * 4).sum().backward()
opt.step()
opt.zero_grad(set_to_none=True)
state = opt.state[w]
print(sorted(state), state["step"], state["exp_avg"], state["exp_avg_sq"], w.grad)
