"""Evolution strategies and random search: learning without gradients."""
import torch

torch.manual_seed(0)
target = torch.tensor([0.5, -0.3, 0.8])
fitness = lambda w: -((w - target) ** 2).sum(-1)
w, npop, sigma, alpha = torch.randn(3), 20, 0.1, 0.02
for i in range(6):
    N = torch.randn(npop, 3)
    R = fitness(w + sigma * N)
    A = (R - R.mean()) / R.std()
    w = w + alpha / (npop * sigma) * N.T @ A
    print(i, f"{fitness(w).item():.4f}")
population = torch.randn(12, 3)
for generation in range(4):
    scores = fitness(population)
    elite = population[scores.topk(4).indices]
    parents = elite[torch.randint(4, (12, 2))]
    mask = torch.rand(12, 3) < 0.5
    population = torch.where(mask, parents[:, 0], parents[:, 1]) + 0.1 * torch.randn(12, 3)
    population[:4] = elite
print(f"{fitness(population).max().item():.4f}", population[0])
from torch.nn.utils import parameters_to_vector, vector_to_parameters
net = torch.nn.Linear(2, 1)
flat = parameters_to_vector(net.parameters()).detach()
vector_to_parameters(flat + 0.1, net.parameters())
print(torch.allclose(parameters_to_vector(net.parameters()), flat + 0.1), net.weight.requires_grad)
