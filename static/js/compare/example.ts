/** What the page compares when it is opened without programs: a copy that gradients pass through, and one that they don't. */

const EXAMPLE_PROGRAM = `import torch
a = torch.tensor([1., 2., 3.], requires_grad=True)
b = a.clone()
c = a * b
c.sum().backward()
print(a.grad)
`;

export const EXAMPLE_COMPARISON = { left: EXAMPLE_PROGRAM, right: EXAMPLE_PROGRAM.replace("a.clone()", "a.detach()") };
