import torch
a = torch.ones(4, device="cuda")
graph = torch.cuda.CUDAGraph()
with torch.cuda.graph(graph):
    b = a * 2
    c = b + 1
a.fill_(5)
graph.replay()
torch.cuda.synchronize()
print(b.tolist(), c.tolist())
