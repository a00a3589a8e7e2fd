"""Operations that compute gradients, and those that clear them."""

from server.operations.table import Row, hole

LOSS, W = hole("loss", "scalar node"), hole("w", "leaf")
OF_W = hole("loss", "scalar node", "{name} = (w * w).sum()")

BACKWARD = (
    Row("backward", "{loss}.backward()", (LOSS,), ("backward_retain", "grad")),
    Row("backward_retain", "{loss}.backward(retain_graph=True)", (LOSS,), ("backward",)),
    Row("backward_with", "{a}.backward(torch.ones_like({a}))", (hole("a", "node"),), ("backward",)),
    Row("grad", "{out}, = torch.autograd.grad({loss}, {w})", (W, OF_W), ("backward", "grad_create")),
    Row("grad_create", "{out}, = torch.autograd.grad({loss}, {w}, create_graph=True)", (W, OF_W), ("grad",)),
    Row("clear_grad", "{w}.grad = None", (hole("w", "leaf with grad"),), ("zero_grad_tensor",)),
    Row("zero_grad_tensor", "{w}.grad.zero_()", (hole("w", "leaf with grad"),), ("clear_grad",)),
)
