import torch

x = torch.tensor([0.0, 200.0], requires_grad=True)

two_steps = -x.softmax(0).log()[0]
two_steps.backward()
print(two_steps, x.grad)

x.grad = None
one_step = -x.log_softmax(0)[0]
one_step.backward()
print(one_step, x.grad)
