"""Automatic mixed precision on the CPU with bfloat16: autocast regions, dtypes, GradScaler disabled."""
import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
x, y = torch.randn(6, 4), torch.randint(0, 2, (6,))
scaler = torch.amp.GradScaler("cpu", enabled=False)
for epoch in range(3):
    optimizer.zero_grad()
    with torch.autocast(device_type="cpu", dtype=torch.bfloat16):
        output = model(x)
        loss = nn.functional.cross_entropy(output, y)
        if epoch == 0:
            print(output.dtype, loss.dtype, model[0].weight.dtype)
    scaler.scale(loss).backward()
    scaler.step(optimizer)
    scaler.update()
    print(f"{loss.item():.4f}")
print(model[0].weight.grad.dtype)
a, b = torch.randn(3, 3), torch.randn(3, 3)
with torch.autocast("cpu", dtype=torch.bfloat16):
    print((a @ b).dtype, (a + b).dtype, torch.exp(a).dtype)
    with torch.autocast("cpu", enabled=False):
        print((a @ b).dtype)
print(torch.is_autocast_enabled("cpu"))


class MyMM(torch.autograd.Function):
    @staticmethod
    @torch.amp.custom_fwd(device_type="cpu", cast_inputs=torch.float32)
    def forward(ctx, a, b):
        ctx.save_for_backward(a, b)
        return a.mm(b)

    @staticmethod
    @torch.amp.custom_bwd(device_type="cpu")
    def backward(ctx, grad):
        a, b = ctx.saved_tensors
        return grad.mm(b.t()), a.t().mm(grad)


a.requires_grad_()
with torch.autocast("cpu", dtype=torch.bfloat16):
    out = MyMM.apply(a, b)
out.sum().backward()
print(out.dtype, a.grad.dtype)
