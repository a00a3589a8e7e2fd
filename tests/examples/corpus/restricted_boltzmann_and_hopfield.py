"""Energy-based models of the books: a Hopfield network and a Boltzmann machine with contrastive divergence."""

import torch

torch.manual_seed(0)
generator = torch.Generator().manual_seed(7)


class Hopfield:
    def __init__(self, patterns):
        n = patterns.shape[1]
        self.W = patterns.t() @ patterns / n
        self.W.fill_diagonal_(0)

    def energy(self, s):
        return -0.5 * s @ self.W @ s

    def recall(self, s, sweeps=3):
        s = s.clone()
        energies = [self.energy(s).item()]
        for _ in range(sweeps):
            for i in torch.randperm(len(s), generator=generator):
                s[i] = 1.0 if self.W[i] @ s >= 0 else -1.0
            energies.append(self.energy(s).item())
        return s, energies


patterns = torch.tensor([[1, 1, 1, 1, -1, -1, -1, -1], [1, -1, 1, -1, 1, -1, 1, -1]], dtype=torch.float)
memory = Hopfield(patterns)
noisy = patterns[0].clone()
noisy[[0, 5]] *= -1
restored, energies = memory.recall(noisy)
print(torch.equal(restored, patterns[0]), [round(e, 3) for e in energies])


class RBM:
    def __init__(self, visible, hidden):
        self.W = torch.randn(hidden, visible) * 0.1
        self.b = torch.zeros(visible)
        self.c = torch.zeros(hidden)
        self.velocity = [torch.zeros_like(p) for p in (self.W, self.b, self.c)]

    def hidden(self, v):
        p = torch.sigmoid(torch.nn.functional.linear(v, self.W, self.c))
        return p, torch.bernoulli(p)

    def visible(self, h):
        p = torch.sigmoid(h @ self.W + self.b)
        return p, torch.bernoulli(p)

    def free_energy(self, v):
        return -(v @ self.b) - torch.nn.functional.softplus(v @ self.W.t() + self.c).sum(1)

    @torch.no_grad()
    def contrastive_divergence(self, v0, k=1, lr=0.1, momentum=0.5):
        ph0, h = self.hidden(v0)
        for _ in range(k):
            pv, v = self.visible(h)
            ph, h = self.hidden(v)
        n = len(v0)
        gradients = ((ph0.t() @ v0 - ph.t() @ v) / n, (v0 - v).mean(0), (ph0 - ph).mean(0))
        for parameter, velocity, g in zip((self.W, self.b, self.c), self.velocity, gradients):
            velocity.mul_(momentum).add_(g, alpha=lr)
            parameter += velocity
        return torch.mean((v0 - pv) ** 2).item()


data = (patterns > 0).float().repeat(8, 1)
rbm = RBM(8, 4)
for epoch in range(6):
    error = rbm.contrastive_divergence(data, k=1 + epoch // 3)
    print(epoch, f"{error:.4f}", f"free energy {rbm.free_energy(data).mean().item():.3f}")

W = rbm.W.clone().requires_grad_()
v = data[:2]
free = (-(v @ rbm.b) - torch.nn.functional.softplus(v @ W.t() + rbm.c).sum(1)).mean()
(g,) = torch.autograd.grad(free, W)
print(torch.allclose(-g, rbm.hidden(v)[0].t() @ v / 2, atol=1e-6))

# exact likelihood: all 2^8 states
states = ((torch.arange(256)[:, None] >> torch.arange(8)) & 1).float()
log_z = torch.logsumexp(-rbm.free_energy(states), 0)
print(f"log Z {log_z.item():.4f}, likelihood {(-rbm.free_energy(data) - log_z).mean().item():.4f}")
chain = torch.rand(1, 8).round()
for _ in range(5):
    chain = rbm.visible(rbm.hidden(chain)[1])[1]
print(chain)
