import torch
side = torch.cuda.Stream()
a = torch.ones(1 << 20, device="cuda")
side.wait_stream(torch.cuda.current_stream())
with torch.cuda.stream(side):
    b = (a * 3).sum()
    c = torch.zeros(3000, device="cuda")
torch.cuda.current_stream().wait_stream(side)
c.record_stream(torch.cuda.current_stream())
print(b.item(), c.sum().item())
del c
done = torch.cuda.Event()
done.record()
done.synchronize()
print(done.query())
