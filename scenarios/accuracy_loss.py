import torch

w = torch.tensor([1.0, -2.0], requires_grad=True)
inputs = torch.tensor([[4.0, 1.0], [1.0, 2.0]])
score = inputs @ w

hits = score > 0
accuracy = hits.float().mean()
loss = 1 - accuracy

print(score.requires_grad, hits.requires_grad)
loss.backward()
