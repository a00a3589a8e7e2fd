# nonfinite at 10: logs
import torch

torch.manual_seed(0)
scores = torch.randn(2, 3, requires_grad=True)
mask = torch.tensor([[0.0, 0.0, float("-inf")], [0.0, 0.0, 0.0]])
masked = scores + mask
logs = torch.log_softmax(masked, dim=1)
target = torch.tensor([[0.5, 0.5, 0.0], [0.2, 0.3, 0.5]])
loss = -(target * logs).sum()
loss.backward()
print(loss, scores.grad)
