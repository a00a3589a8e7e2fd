import torch

torch.manual_seed(0)
model = torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.GELU(), torch.nn.Linear(16, 1))
optimizer = torch.optim.AdamW(model.parameters(), lr=0.01)
scaler = torch.amp.GradScaler("cpu")
x, y = torch.randn(16, 8), torch.ones(16, 1)
for k in range(4):
    optimizer.zero_grad()
    with torch.autocast("cpu", dtype=torch.bfloat16):
        prediction = model(x)
    loss = torch.nn.functional.mse_loss(prediction.float(), y)
    scaler.scale(loss).backward()
    scaler.unscale_(optimizer)  # mistake clip_while_scaled at +1: pass
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    scaler.step(optimizer)
    scaler.update()
    print(k, round(loss.item(), 3))
