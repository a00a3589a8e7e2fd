# Writing into a view rewrites the base's history; some views may not be written.
import torch
x = torch.ones(4, requires_grad=True)
y = x * 1
part = y[1:3]
part *= 4
print(y, y.grad_fn.name(), part.grad_fn.name())
y.sum().backward()
print(x.grad)
a, *_ = (x * 1).unbind()
with torch.no_grad():
    hidden = y.view(2, 2)
for view in (a, hidden):
    try:
        view += 1
    except RuntimeError as error:
        print(str(error).split(".")[0])
