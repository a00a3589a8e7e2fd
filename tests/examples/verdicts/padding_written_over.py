import torch

torch.manual_seed(0)
embed = torch.nn.Embedding(5, 2, padding_idx=0)
print(embed.weight[0])

torch.nn.init.normal_(embed.weight)
ids = torch.tensor([[1, 2, 0, 0], [3, 4, 1, 0]])
sentence = embed(ids).sum(1)
sentence.sum().backward()
print(embed.weight[0], embed.weight.grad[0])
