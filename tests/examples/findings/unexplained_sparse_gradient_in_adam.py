# unexplained_error: embedding.weight sparse SparseAdam
import torch
embedding = torch.nn.Embedding(10, 3, sparse=True)
decoder = torch.nn.Linear(3, 2)
optimizer = torch.optim.Adam([*embedding.parameters(), *decoder.parameters()], lr=0.01)
loss = decoder(embedding(torch.tensor([1, 2, 4]))).pow(2).sum()
loss.backward()
optimizer.step()  # cause
