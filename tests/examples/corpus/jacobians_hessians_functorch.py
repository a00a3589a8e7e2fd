"""Jacobians, Hessians, per-sample gradients: autograd.functional, jacrev, jacfwd, vmap."""
import torch
import torch.nn.functional as F
from torch.autograd.functional import hessian, hvp, jacobian, jvp, vjp
from torch.func import functional_call, grad, hessian as fhessian, jacfwd, jacrev, vmap

torch.manual_seed(0)
W, b, x = torch.randn(3, 4), torch.randn(3), torch.randn(4)


def predict(weight, bias, x):
    return F.linear(x, weight, bias).tanh()


jac = jacobian(lambda x: predict(W, b, x), x)
print(jac.shape, torch.allclose(jac, jacrev(predict, argnums=2)(W, b, x)), torch.allclose(jac, jacfwd(predict, argnums=2)(W, b, x), atol=1e-6))
unit = torch.eye(3)
xp = x.clone().requires_grad_()
rows = torch.stack([torch.autograd.grad(predict(W, b, xp), xp, vec)[0] for vec in unit])
print(torch.allclose(rows, jac))
H = hessian(lambda x: predict(W, b, x).pow(2).sum(), x)
print(torch.allclose(H, H.T, atol=1e-5), torch.allclose(H, fhessian(lambda x: predict(W, b, x).pow(2).sum())(x), atol=1e-5))
print([t.shape for t in vjp(lambda x: predict(W, b, x), x, torch.ones(3))], [t.shape for t in jvp(lambda x: predict(W, b, x), x, torch.ones(4))])
print(torch.allclose(hvp(lambda x: predict(W, b, x).sum(), x, torch.ones(4))[1], hessian(lambda x: predict(W, b, x).sum(), x) @ torch.ones(4), atol=1e-5))
model = torch.nn.Sequential(torch.nn.Linear(4, 5), torch.nn.ReLU(), torch.nn.Linear(5, 2))
params = {k: v.detach() for k, v in model.named_parameters()}
data, targets = torch.randn(6, 4), torch.randint(2, (6,))


def compute_loss(params, sample, target):
    predictions = functional_call(model, params, (sample.unsqueeze(0),))
    return F.cross_entropy(predictions, target.unsqueeze(0))


ft_per_sample = vmap(grad(compute_loss), in_dims=(None, 0, 0))(params, data, targets)
for name, value in ft_per_sample.items():
    print(name, tuple(value.shape))
one = torch.autograd.grad(F.cross_entropy(model(data[:1]), targets[:1]), model.parameters())
print(all(torch.allclose(g, ft_per_sample[n][0], atol=1e-6) for g, (n, _) in zip(one, model.named_parameters())))
