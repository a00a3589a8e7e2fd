import torch

words = ["the", "cat", "sat"]
table = torch.nn.Embedding(3, 2)
ids = torch.tensor([0, 2])
print(table(ids).shape)

unknown = torch.tensor([0, 3])
print(len(words), unknown.max())
table(unknown)
