import torch
import torch.nn.functional as F
torch.manual_seed(0)
q, k, v = (torch.randn(2, 4, 8, 16, device="cuda", dtype=torch.float16, requires_grad=True) for _ in range(3))
out = F.scaled_dot_product_attention(q, k, v, is_causal=True)
out.float().sum().backward()
print(out.shape, out.dtype, q.grad.dtype, torch.isfinite(k.grad).all().item())
