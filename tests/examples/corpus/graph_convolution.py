"""A graph convolutional network on a small graph, dense and sparse adjacency."""
import torch
from torch import nn
import torch.nn.functional as F

edges = torch.tensor([[0, 1], [0, 2], [1, 2], [3, 4], [3, 5], [4, 5], [2, 3]])
n = 6
A = torch.zeros(n, n)
A[edges[:, 0], edges[:, 1]] = 1
A = A + A.T + torch.eye(n)
D = A.sum(1).pow(-0.5)
A_hat = D[:, None] * A * D[None, :]
S = A_hat.to_sparse()


class GCNLayer(nn.Module):
    def __init__(self, fin, fout):
        super().__init__()
        self.weight = nn.Parameter(torch.empty(fin, fout))
        self.bias = nn.Parameter(torch.zeros(fout))
        nn.init.xavier_uniform_(self.weight)

    def forward(self, x, adj):
        support = x @ self.weight
        return torch.sparse.mm(adj, support) + self.bias if adj.is_sparse else adj @ support + self.bias


class GCN(nn.Module):
    def __init__(self):
        super().__init__()
        self.gc1, self.gc2 = GCNLayer(n, 4), GCNLayer(4, 2)

    def forward(self, x, adj):
        return F.log_softmax(self.gc2(F.dropout(F.relu(self.gc1(x, adj)), 0.3, training=self.training), adj), dim=1)


torch.manual_seed(0)
model, x = GCN(), torch.eye(n)
labels, idx_train = torch.tensor([0, 0, 0, 1, 1, 1]), torch.tensor([0, 5])
optimizer = torch.optim.Adam(model.parameters(), lr=0.05, weight_decay=5e-4)
for epoch in range(5):
    model.train()
    optimizer.zero_grad()
    loss = F.nll_loss(model(x, S)[idx_train], labels[idx_train])
    loss.backward()
    optimizer.step()
model.eval()
print(f"{loss.item():.4f}", model(x, A_hat).argmax(1), torch.allclose(model(x, S), model(x, A_hat), atol=1e-5))
messages = torch.zeros(n, 2).index_add_(0, edges[:, 1], torch.ones(len(edges), 2))
print(messages[:, 0])
