# saved_overwritten: p
import torch
pos = torch.tensor([0.0, 1.0], requires_grad=True)
vel = torch.tensor([0.5, -0.5], requires_grad=True)
p, v = pos.clone(), vel.clone()
traj = []
for step in range(3):
    acc = -torch.sin(p)
    v = v + 0.1 * acc
    p += 0.1 * v  # cause
    traj.append(p)
loss = sum((t ** 2).sum() for t in traj)
loss.backward()
print(pos.grad)
