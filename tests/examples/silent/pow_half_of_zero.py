# nonfinite at 6: dist2
import torch
pts = torch.tensor([[0.0, 0.0], [0.0, 0.0], [3.0, 4.0]], requires_grad=True)
diff = pts[:, None] - pts[None]
dist2 = (diff ** 2).sum(-1)
dist = dist2 ** 0.5
dist.sum().backward()
print(pts.grad)
