"""Error messages as people paste them, by the scenarios one of which has to be among the first three, and messages that
no program of the gallery ends with."""

R, V = "RuntimeError: ", "ValueError: "
IN_PLACE = R + "one of the variables needed for gradient computation has been modified by an inplace operation: "
SECOND = R + "Trying to backward through the graph a second time"
FRAME = 'Traceback (most recent call last):\n  File "train.py", line 9, in <module>\n    step()\n'

KNOWN: dict[str, set[str]] = {
    IN_PLACE
    + "[torch.cuda.FloatTensor [64, 128]], which is output 0 of ReluBackward0, is at version 2; expected version 1 "
    "instead. Hint: the backtrace further above shows the operation that failed to compute its gradient.": {
        "relu_or_clamp",
        "saved_inplace",
        "alias_unsaved",
        "square_input",
        "step_between",
    },
    IN_PLACE
    + "[torch.FloatTensor [10, 1]], which is output 0 of AsStridedBackward0, is at version 2; expected version 1": {
        "relu_or_clamp",
        "saved_inplace",
        "alias_unsaved",
        "square_input",
        "step_between",
    },
    FRAME + IN_PLACE + "[torch.FloatTensor [3]], which is output 0 of SigmoidBackward0, is at version 1": {
        "saved_inplace",
        "relu_or_clamp",
        "alias_unsaved",
        "square_input",
        "step_between",
    },
    SECOND
    + " (or directly access saved tensors after they have already been freed). Saved intermediate values of the graph "
    "are freed when you call .backward() or autograd.grad(). Specify retain_graph=True if you need to backward through "
    "the "
    "graph a second time or if you need to access saved tensors after calling backward.": {
        "accumulate",
        "hidden_carried",
    },
    SECOND
    + ", but the buffers have already been freed. Specify retain_graph=True when calling backward the first time.": {
        "accumulate",
        "hidden_carried",
    },
    R + "element 0 of tensors does not require grad and does not have a grad_fn": {
        "accuracy_loss",
        "rebound_step",
        "silenced_loss",
        "tensor_of_losses",
        "checkpoint_input",
    },
    FRAME + R + "element 0 of tensors does not require grad and does not have a grad_fn": {
        "accuracy_loss",
        "rebound_step",
        "silenced_loss",
        "tensor_of_losses",
        "checkpoint_input",
    },
    R + "grad can be implicitly created only for scalar outputs": {"scalar_outputs"},
    FRAME + R + "grad can be implicitly created only for scalar outputs": {"scalar_outputs"},
    "grad can be implicitly created only for scalar outputs": {"scalar_outputs"},
    R + "a leaf Variable that requires grad is being used in an in-place operation.": {"leaf_write"},
    R + "a leaf Variable that requires grad has been used in an in-place operation.": {"leaf_write"},
    R + "a view of a leaf Variable that requires grad is being used in an in-place operation.": {"leaf_row"},
    R
    + "Output 0 of UnbindBackward0 is a view and is being modified inplace. This view is the output of a function that "
    "returns multiple views. Such functions do not allow the output views to be modified inplace.": {"unbind_rows"},
    R + "Only Tensors of floating point and complex dtype can require gradients": {"integer_leaf"},
    R + "only Tensors of floating point dtype can require gradients": {"integer_leaf"},
    R + "Can't call numpy() on Tensor that requires grad. Use tensor.detach().numpy() instead.": {"numpy_refused"},
    R + "view size is not compatible with input tensor's size and stride (at least one dimension spans across two "
    "contiguous subspaces). Use .reshape(...) instead.": {"not_contiguous"},
    R
    + "unsupported operation: more than one element of the written-to tensor refers to a single memory location. Please "
    "clone() the tensor before performing the operation.": {"expand_write"},
    R
    + "Inference tensors cannot be saved for backward. To work around you can make a clone to get a normal tensor and use "
    "it in autograd.": {"inference_mode"},
    R + "result type Float can't be cast to the desired output type Long": {"integer_inplace"},
    R + "output with shape [4] doesn't match the broadcast shape [3, 4]": {"broadcast_inplace"},
    R + "Function 'SqrtBackward0' returned nan values in its 0th output.": {"anomaly", "where_nan", "norm_at_zero"},
    V + "optimizer got an empty parameter list": {"python_list"},
    V + "can't optimize a non-leaf Tensor": {"flag_of_result"},
    R + "you can only change requires_grad flags of leaf variables.": {"flag_of_result"},
    "UserWarning: The .grad attribute of a Tensor that is not a leaf Tensor is being accessed. Its .grad attribute "
    "won't be "
    "populated during autograd.backward().": {
        "moved_leaf",
        "retain_grad",
        "leaf_grad_fn",
        "rebound_weight",
        "rebound_step",
    },
    "UserWarning: None of the inputs have requires_grad=True. Gradients will be None": {"checkpoint_input"},
    "UserWarning: Detected call of `lr_scheduler.step()` before `optimizer.step()`. In PyTorch 1.1.0 and later, you "
    "should "
    "call them in the opposite order: `optimizer.step()` before `lr_scheduler.step()`.": {"scheduler_first"},
    R + "Expected all tensors to be on the same device, but found at least two devices, cuda:0 and cpu!": {
        "two_devices"
    },
    R
    + "Expected all tensors to be on the same device, but found at least two devices, cuda:1 and cuda:0! (when checking "
    "argument for argument mat1 in method wrapper_CUDA_addmm)": {"two_devices"},
    R + "Input type (torch.cuda.FloatTensor) and weight type (torch.FloatTensor) should be the same": {"two_devices"},
    "TypeError: can't convert cuda:0 device type tensor to numpy. Use Tensor.cpu() to copy the tensor to host memory first.": {
        "two_devices"
    },
    R + "mat1 and mat2 must have the same dtype, but got Double and Float": {"double_input"},
    R + "mat1 and mat2 must have the same dtype, but got Half and Float": {"double_input"},
    R + "expected scalar type Double but found Float": {"double_input"},
    R + "expected m1 and m2 to have the same dtype, but got: double != float": {"double_input"},
    R + "Expected object of scalar type Float but got scalar type Double for argument #4 'mat1'": {"double_input"},
    R + "expected scalar type Long but found Float": {"float_target"},
    R
    + "Expected object of scalar type Long but got scalar type Float for argument #2 'target' in call to _thnn_nll_loss": {
        "float_target"
    },
    R + "mat1 and mat2 shapes cannot be multiplied (32x400 and 256x120)": {"matmul_shapes"},
    FRAME + R + "mat1 and mat2 shapes cannot be multiplied (4x10 and 5x2)": {"matmul_shapes"},
    R + "size mismatch, m1: [1 x 2048], m2: [512 x 10] at /pytorch/aten/src/TH/generic/THTensorMath.cpp:41": {
        "matmul_shapes"
    },
    R + "The size of tensor a (64) must match the size of tensor b (10) at non-singleton dimension 1": {
        "broadcast_sizes"
    },
    R + "shape '[64, -1]' is invalid for input of size 100": {"reshape_sizes"},
    R + "shape '[4, 8, 16]' is invalid for input of size 1024": {"reshape_sizes"},
    "IndexError: index out of range in self": {"embedding_index"},
    R
    + "CUDA error: device-side assert triggered\nCUDA kernel errors might be asynchronously reported at some other API call": {
        "embedding_index",
        "target_classes",
    },
    "IndexError: Target 10 is out of bounds.": {"target_classes"},
    "IndexError: index 5 is out of bounds for dimension 0 with size 5": {"index_bounds"},
    "IndexError: Dimension out of range (expected to be in range of [-1, 0], but got 1)": {"index_bounds"},
    "IndexError: too many indices for tensor of dimension 1": {"index_bounds"},
    R
    + "CUDA out of memory. Tried to allocate 20.00 MiB (GPU 0; 7.93 GiB total capacity; 6.84 GiB already allocated)": {
        "losses_list"
    },
    "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 14.75 GiB": {
        "losses_list"
    },
    R + "Boolean value of Tensor with more than one value is ambiguous": {"truth_of_many"},
    R + "a Tensor with 12 elements cannot be converted to Scalar": {"item_of_many"},
    V + "only one element tensors can be converted to Python scalars": {"item_of_many"},
    R
    + "Given groups=1, weight of size [64, 3, 7, 7], expected input[1, 1, 224, 224] to have 3 channels, but got 1 channels "
    "instead": {"conv_channels"},
    R + "stack expects each tensor to be equal size, but got [3, 64, 64] at entry 0 and [3, 64, 48] at entry 1": {
        "stack_sizes"
    },
    R
    + "Sizes of tensors must match except in dimension 1. Expected size 4 but got size 5 for tensor number 1 in the list.": {
        "stack_sizes"
    },
    R + "Error(s) in loading state_dict for ResNet:\n\tsize mismatch for fc.weight: copying a param with shape "
    "torch.Size([1000, 512]) from checkpoint, the shape in current model is torch.Size([10, 512]).": {
        "state_dict_sizes"
    },
    V + "Expected more than 1 value per channel when training, got input size torch.Size([1, 64])": {
        "batch_norm_of_one"
    },
    R
    + "One of the differentiated Tensors appears to not have been used in the graph. Set allow_unused=True if this is the "
    "desired behavior.": {"unused_input"},
    'NotImplementedError: Module [Net] is missing the required "forward" function': {"forward_missing"},
}

UNKNOWN = (
    R + "cuDNN error: CUDNN_STATUS_EXECUTION_FAILED",
    R + "CUDA error: no kernel image is available for execution on the device",
    R + "NCCL error in: ../torch/csrc/distributed/c10d/ProcessGroupNCCL.cpp:1269, unhandled system error",
    R
    + "Cannot re-initialize CUDA in forked subprocess. To use CUDA with multiprocessing, you must use the 'spawn' start method",
    R + "DataLoader worker (pid 12345) is killed by signal: Killed.",
    "ModuleNotFoundError: No module named 'torchvision'",
    "ImportError: libcudnn.so.8: cannot open shared object file: No such file or directory",
    "AttributeError: module 'torch' has no attribute 'compile'",
    "AttributeError: Can't pickle local object 'main.<locals>.<lambda>'",
    "FileNotFoundError: [Errno 2] No such file or directory: 'data/train.csv'",
    "KeyError: 'pixel_values'",
    "TypeError: forward() missing 1 required positional argument: 'mask'",
    "TypeError: 'int' object is not callable",
    "ZeroDivisionError: float division by zero",
    "UnicodeDecodeError: 'utf-8' codec can't decode byte 0x80 in position 0: invalid start byte",
    "OSError: [WinError 126] The specified module could not be found. Error loading c10.dll or one of its "
    "dependencies.",
    "PermissionError: [Errno 13] Permission denied: '/root/.cache/torch/hub'",
    R + "PytorchStreamReader failed reading zip archive: failed finding central directory",
    "urllib.error.HTTPError: HTTP Error 403: rate limit exceeded",
    "ConnectionResetError: [Errno 104] Connection reset by peer",
)
