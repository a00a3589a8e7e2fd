"""Operations that compute gradients, and those that clear them."""

from server.operations.table import OperationRow, hole

LOSS, W = hole("loss", "scalar node"), hole("w", "leaf")
OF_W = hole("loss", "scalar node", "{name} = (w * w).sum()")

BACKWARD = (
    OperationRow("backward", "{loss}.backward()", (LOSS,), ("backward_retain", "grad")),
    OperationRow("backward_retain", "{loss}.backward(retain_graph=True)", (LOSS,), ("backward",)),
    OperationRow("backward_with", "{a}.backward(torch.ones_like({a}))", (hole("a", "node"),), ("backward",)),
    OperationRow("grad", "{out}, = torch.autograd.grad({loss}, {w})", (W, OF_W), ("backward", "grad_create")),
    OperationRow("grad_create", "{out}, = torch.autograd.grad({loss}, {w}, create_graph=True)", (W, OF_W), ("grad",)),
    OperationRow("clear_grad", "{w}.grad = None", (hole("w", "leaf with grad"),), ("zero_grad_tensor",)),
    OperationRow("zero_grad_tensor", "{w}.grad.zero_()", (hole("w", "leaf with grad"),), ("clear_grad",)),
)
