import torch

a = torch.tensor([1.0, 2.0], requires_grad=True)
recorded = a.clone()
with torch.no_grad():
    unrecorded = a.clone()

print(recorded.requires_grad, unrecorded.requires_grad)
holds = recorded.requires_grad and unrecorded.requires_grad

loss = (recorded * 2).sum() + (unrecorded * 8).sum()
loss.backward()
print(a.grad)
