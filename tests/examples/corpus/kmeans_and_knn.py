"""k-means and nearest neighbours with tensors."""
import torch

torch.manual_seed(0)
centers = torch.tensor([[0.0, 0.0], [5.0, 5.0], [0.0, 5.0]])
x = torch.cat([c + 0.5 * torch.randn(10, 2) for c in centers])


def kmeans(x, k, iterations=6):
    means = x[torch.randperm(len(x))[:k]].clone()
    for it in range(iterations):
        distances = torch.cdist(x, means)
        assignment = distances.argmin(1)
        new = torch.stack([x[assignment == j].mean(0) if (assignment == j).any() else means[j] for j in range(k)])
        shift = (new - means).norm()
        means = new
        print(f"{it}: {shift.item():.4f}")
        if shift < 1e-4:
            break
    return means, assignment


means, assignment = kmeans(x, 3)
print(means[means[:, 0].argsort()], torch.bincount(assignment, minlength=3))
query = torch.tensor([[4.5, 5.2], [0.1, 4.0]])
distances, neighbours = torch.cdist(query, x).topk(3, largest=False)
labels = torch.arange(30) // 10
print(labels[neighbours].mode(dim=1).values, distances.shape)
weights = 1 / distances
print((weights / weights.sum(1, keepdim=True)).sum(1))
