# conj and imag are lazy bits over the same cells; view_as_real reads them in pairs.
import torch
z = torch.tensor([1 + 2j, 0 + 4j], requires_grad=True)
(z * z.conj()).real.sum().backward()
print(z.grad)
pairs = torch.view_as_real(z.detach())
pairs[0, 0] = 8
mirror = z.detach().conj()
print(z, mirror.is_conj(), mirror.imag.is_neg(), mirror.imag, mirror.resolve_conj())
