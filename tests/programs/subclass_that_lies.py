# A subclass whose attributes run code and lie: nobody but the program asks them.
import torch
class Odd(torch.Tensor):
    @property
    def shape(self):
        print("asked for its shape")
        return torch.Size([9])
    @property
    def requires_grad(self):
        print("asked whether it requires grad")
        return True
    def stride(self):
        print("asked for its stride")
        return (7,)
    def is_inference(self):
        print("asked whether it is of inference")
        return True
x = torch.ones(2).as_subclass(Odd)
y = x * 2
print(y.shape)
del y
