"""Determines from the syntax tree on which device a program's values would be on a machine with a GPU.

The tree is walked in the order in which the program runs, but each statement once: a loop's body is assumed to do in
every iteration what it does in the first, and a function's parameters are what its calls pass.
"""

import ast
import re
from collections.abc import Iterable
from dataclasses import replace

from gradbox.language.device_values import (
    PLAIN_VALUE,
    DeviceKind,
    ExpressionValue,
    ValueScope,
    common_value,
    element_value,
)
from gradbox.language.names import ImportedModules

Function = ast.FunctionDef | ast.AsyncFunctionDef

CUDA_DEVICE_PATTERN = re.compile(r"cuda(:\d*)?$")
CUDA_TENSOR_TYPE_PATTERN = re.compile(r"torch\.cuda\.(\w+Tensor)$")
MOVE_METHODS = ("cuda", "cpu", "to", "type", "type_as", "pin_memory")

_EVALUATION_PASSES = 3
"""Passes over the tree. The values of parameters and attributes are known in the pass after the one that found them."""

_DEVICE_NAME_PATTERN = re.compile(r"device|cuda|gpu|rank", re.I)
_PLAIN_FUNCTIONS = frozenset(
    [
        "len",
        "int",
        "float",
        "str",
        "bool",
        "print",
        "range",
        "isinstance",
        "type",
        "id",
        "hasattr",
        "repr",
        "abs",
        "round",
        "open",
    ]
)
_FUNCTIONS_THAT_KEEP_ELEMENTS = frozenset(["list", "tuple", "iter", "reversed", "sorted", "set"])
_PLAIN_ATTRIBUTES = frozenset(["shape", "dtype", "ndim", "requires_grad", "is_cuda", "is_leaf", "grad_fn", "layout"])
_PLAIN_METHODS = frozenset(
    [
        "item",
        "tolist",
        "numpy",
        "size",
        "dim",
        "numel",
        "backward",
        "stride",
        "data_ptr",
        "append",
        "extend",
        "step",
        "zero_grad",
    ]
)
_MODULE_METHODS = frozenset(
    [
        "train",
        "eval",
        "half",
        "float",
        "double",
        "bfloat16",
        "requires_grad_",
        "apply",
        "_apply",
        "to_empty",
        "get_submodule",
        "children",
        "modules",
    ]
)
_TENSOR_ATTRIBUTES_OF_MODULES = frozenset(["weight", "bias", "grad", "running_mean", "running_var", "in_proj_weight"])
_MODULE_METHODS_WITHOUT_MOVE = frozenset(
    [
        "parameters",
        "named_parameters",
        "train",
        "eval",
        "state_dict",
        "load_state_dict",
        "zero_grad",
        "children",
        "modules",
        "apply",
    ]
)
_FUNCTIONS_RETURNING_MODULE = (
    "torch.compile",
    "torch.jit.script",
    "torch.jit.trace",
    "torch.nn.utils.",
    "torch.ao.",
    "torch.quantization.",
)
_PREFIXES_RETURNING_TENSOR = ("torch.nn.functional.", "torch.linalg.", "torch.fft.", "torch.special.",
                  "torch.func.functional_call", "torch.nn.utils.rnn.", "torch.Tensor.")  # fmt: skip
_FUNCTIONS_FROM_ARRAY = frozenset(("torch.from_numpy", "torch.frombuffer"))


class DevicePlacement:
    """Answers questions about one program's tree. Raises RecursionError if the tree is nested too deeply."""

    def __init__(self, tree: ast.Module, modules: ImportedModules, nodes: Iterable[ast.AST]) -> None:
        self._modules = modules
        self._classes = {node.name: node for node in nodes if isinstance(node, ast.ClassDef)}
        functions = [node for node in nodes if isinstance(node, Function)]
        self._functions: dict[str, list[Function]] = {}
        for function in functions:
            self._functions.setdefault(function.name, []).append(function)
        self._values: dict[ast.AST, ExpressionValue | None] = {}
        self._finals: dict[ast.AST, dict[str, ExpressionValue | None]] = {}
        self._arguments: dict[tuple[Function, str], ExpressionValue | None] = {}
        self._returns: dict[Function, ExpressionValue | None] = {}
        self._attributes: dict[str, ExpressionValue | None] = {}
        self._modules_lie: DeviceKind = "cpu"
        self._default: DeviceKind = "cpu"
        self._used_as_modules = {
            node.value.id
            for node in nodes
            if isinstance(node, ast.Attribute)
            and isinstance(node.value, ast.Name)
            and node.attr in _MODULE_METHODS_WITHOUT_MOVE
        }
        for _ in range(_EVALUATION_PASSES):
            self._values, self._default = {}, "cpu"
            scope = ValueScope({}, self._finals.get(tree, {}))
            self._evaluate_block(tree.body, scope)
            self._finals[tree] = scope.names

    def value_of_expression(self, node: ast.AST) -> ExpressionValue | None:
        """The value of an expression; None if the tree doesn't tell."""
        return self._values.get(node)

    def defines_function(self, name: str) -> bool:
        """Whether the program itself defines a function or method of that name."""
        return name in self._functions

    def is_module_class(self, name: str, seen: tuple[str, ...] = ()) -> bool:
        """Whether a class of the program is a module."""
        return any(
            (self._modules.dotted_path(base) or "").startswith(("torch.nn.", "torch.nn"))
            or (isinstance(base, ast.Name) and base.id in self._classes and base.id not in seen
                and self.is_module_class(base.id, (*seen, name)))
            for base in self._classes[name].bases
        )  # fmt: skip

    def move_target(self, call: ast.Call) -> DeviceKind | None:
        """The device to which a call of `to`, `cuda`, `cpu` or `type_as` moves its tensor or module; None if it only
        changes the dtype."""
        method = call.func.attr if isinstance(call.func, ast.Attribute) else ""
        if method in ("cuda", "cpu"):
            return "gpu" if method == "cuda" else "cpu"
        wanted = device_argument(call)
        if wanted is None:
            return None
        return self._device_named_by(wanted, method)

    def _device_named_by(self, node: ast.AST, method: str) -> DeviceKind | None:
        if CUDA_TENSOR_TYPE_PATTERN.match(self._modules.dotted_path(node) or "") or CUDA_TENSOR_TYPE_PATTERN.match(
            str(getattr(node, "value", ""))
        ):
            return "gpu"
        value = self.value_of_expression(node)
        if value is not None and value.kind == "number":
            return "gpu"
        if value is not None and value.kind in ("device", "tensor"):
            return value.on if value.on is not None else "gpu"
        if value is None and method != "type" and _DEVICE_NAME_PATTERN.search(ast.unparse(node)):
            return "gpu"
        return None

    # statements

    def _evaluate_block(self, body: Iterable[ast.stmt], scope: ValueScope) -> None:
        for statement in body:
            self._evaluate_statement(statement, scope)

    def _evaluate_statement(self, node: ast.stmt, scope: ValueScope) -> None:
        match node:
            case ast.Assign():
                value = self._evaluate_and_keep(node.value, scope)
                for target in node.targets:
                    self._bind_target(target, value, scope, node.value)
            case ast.AnnAssign() if node.value is not None:
                self._bind_target(node.target, self._evaluate_and_keep(node.value, scope), scope, node.value)
            case ast.AugAssign():
                joined = self._operator_value(
                    [self._evaluate_and_keep(node.target, scope), self._evaluate_and_keep(node.value, scope)]
                )
                self._bind_target(node.target, joined, scope)
            case ast.For() | ast.AsyncFor():
                self._bind_target(node.target, element_value(self._evaluate_and_keep(node.iter, scope)), scope)
                self._evaluate_block([*node.body, *node.orelse], scope)
            case ast.While():
                self._evaluate_and_keep(node.test, scope)
                self._evaluate_block([*node.body, *node.orelse], scope)
            case ast.If():
                self._evaluate_and_keep(node.test, scope)
                before = dict(scope.names)
                self._evaluate_block(node.body, scope)
                after, scope.names = scope.names, before
                self._evaluate_block(node.orelse, scope)
                only_here = tests_cuda_availability(
                    node.test
                )  # the body does not run without a GPU; a device is as if it did
                scope.names.update(
                    {name: value for name, value in after.items()
                     if value is not None and (not only_here or value.kind == "device")}
                )  # fmt: skip
            case ast.With() | ast.AsyncWith():
                self._evaluate_with(node, scope)
            case ast.Try():
                handlers = [part for handler in node.handlers for part in handler.body]
                self._evaluate_block([*node.body, *handlers, *node.orelse, *node.finalbody], scope)
            case ast.Match():
                self._evaluate_and_keep(node.subject, scope)
                for case in node.cases:
                    self._evaluate_block(case.body, scope)
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                self._evaluate_function(node, scope, "")
            case ast.ClassDef():
                inner = ValueScope({}, self._finals.get(node, {}), scope)
                for part in node.body:
                    if isinstance(part, Function):
                        self._evaluate_function(part, scope, node.name)
                    else:
                        self._evaluate_statement(part, inner)
                self._finals[node] = inner.names
            case ast.Return():
                scope.returned.append(
                    self._evaluate_and_keep(node.value, scope) if node.value is not None else PLAIN_VALUE
                )
            case _:
                for expression in ast.iter_child_nodes(node):
                    if isinstance(expression, ast.expr):
                        self._evaluate_and_keep(expression, scope)

    def _evaluate_with(self, node: ast.With | ast.AsyncWith, scope: ValueScope) -> None:
        default = self._default
        for item in node.items:
            value = self._evaluate_and_keep(item.context_expr, scope)
            if value is not None and value.kind == "device" and value.on is not None:
                self._default = value.on
            if item.optional_vars is not None:
                self._bind_target(item.optional_vars, value, scope)
        self._evaluate_block(node.body, scope)
        self._default = default

    def _evaluate_function(self, node: Function, scope: ValueScope, cls: str) -> None:
        names: dict[str, ExpressionValue | None] = {}
        parameters = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
        for parameter in parameters:
            names[parameter.arg] = self._arguments.get((node, parameter.arg))
        positional = [*node.args.posonlyargs, *node.args.args]
        defaults = dict(zip(positional[::-1], node.args.defaults[::-1], strict=False))
        defaults |= {
            arg: value for arg, value in zip(node.args.kwonlyargs, node.args.kw_defaults, strict=True) if value
        }
        for parameter, default in defaults.items():
            value = self._evaluate_and_keep(default, scope)
            if names[parameter.arg] is None and value is not None and value.kind == "device":
                names[parameter.arg] = value
        if cls and positional:
            is_module = self.is_module_class(cls)
            lies: DeviceKind = "cpu" if node.name == "__init__" else self._modules_lie
            names[positional[0].arg] = (
                ExpressionValue("module", lies, cls=cls) if is_module else ExpressionValue("plain", cls=cls)
            )
        inner = ValueScope(names, self._finals.get(node, {}), scope)
        self._evaluate_block(node.body, inner)
        self._finals[node] = inner.names
        if inner.returned:
            self._returns[node] = common_value(inner.returned)

    def _bind_target(
        self, target: ast.AST, value: ExpressionValue | None, scope: ValueScope, source: ast.AST | None = None
    ) -> None:
        if isinstance(target, ast.Name):
            scope.names[target.id] = value
        elif isinstance(target, ast.Starred):
            self._bind_target(target.value, value, scope)
        elif isinstance(target, ast.Tuple | ast.List):
            parts: list[ExpressionValue | None] = [element_value(value)] * len(target.elts)
            starred = any(isinstance(part, ast.Starred) for part in target.elts)
            if isinstance(source, ast.Tuple | ast.List) and len(source.elts) == len(target.elts) and not starred:
                parts = [self.value_of_expression(part) for part in source.elts]
            for part, element in zip(target.elts, parts, strict=True):
                self._bind_target(part, element, scope)
        elif isinstance(target, ast.Attribute):
            self._evaluate_and_keep(target.value, scope)
            if (
                isinstance(source, ast.Call)
                and self._dotted_path(source.func).startswith("torch.nn.")
                and value is not None
            ):
                value = replace(value, rides=True)
            self._attributes[target.attr] = common_value([self._attributes.get(target.attr), value])
        elif isinstance(target, ast.Subscript):
            self._evaluate_and_keep(target, scope)
            if isinstance(target.value, ast.Name):
                held = scope.value_of_name(target.value.id)
                if held is not None and held.kind == "items" and held.of is None:
                    scope.names[target.value.id] = ExpressionValue("items", of=value)

    # expressions

    def _evaluate_and_keep(self, node: ast.AST, scope: ValueScope) -> ExpressionValue | None:
        value = self._value_of_expression(node, scope)
        if node not in self._values or self._values[node] is None:
            self._values[node] = value
        return value

    def _value_of_expression(self, node: ast.AST, scope: ValueScope) -> ExpressionValue | None:
        match node:
            case ast.Constant(value=str(text)):
                if CUDA_DEVICE_PATTERN.match(text):
                    return ExpressionValue("device", "gpu")
                return ExpressionValue("device", "cpu") if text == "cpu" else PLAIN_VALUE
            case ast.Constant(value=constant):
                return ExpressionValue("number") if type(constant) is int else PLAIN_VALUE
            case ast.JoinedStr():
                for part in node.values:
                    if isinstance(part, ast.FormattedValue):
                        self._evaluate_and_keep(part.value, scope)
                return ExpressionValue("device", "gpu") if starts_with_cuda_index(node) else PLAIN_VALUE
            case ast.Name():
                value = scope.value_of_name(node.id)
                if value is None and node.id in self._used_as_modules:
                    return ExpressionValue("module")
                return value
            case ast.Call():
                return self._call_value(node, scope)
            case ast.Attribute():
                return self._attribute_value(node, self._evaluate_and_keep(node.value, scope), scope)
            case ast.Subscript():
                self._evaluate_and_keep(node.slice, scope)
                value = self._evaluate_and_keep(node.value, scope)
                return value if value is not None and value.kind == "module" else element_value(value)
            case ast.BinOp():
                left, right = self._evaluate_and_keep(node.left, scope), self._evaluate_and_keep(node.right, scope)
                if starts_with_cuda_index(node):
                    return ExpressionValue("device", "gpu")
                return self._operator_value([left, right])
            case ast.UnaryOp():
                return self._evaluate_and_keep(node.operand, scope)
            case ast.Compare():
                return self._operator_value(
                    [self._evaluate_and_keep(part, scope) for part in [node.left, *node.comparators]]
                )
            case ast.BoolOp():
                return common_value([self._evaluate_and_keep(part, scope) for part in node.values])
            case ast.IfExp():
                self._evaluate_and_keep(node.test, scope)
                first, second = (
                    self._evaluate_and_keep(node.body, scope),
                    self._evaluate_and_keep(node.orelse, scope),
                )
                if tests_cuda_availability(node.test):
                    return first if first is not None and first.kind == "device" else second
                return common_value([first, second])
            case ast.Tuple() | ast.List() | ast.Set():
                return ExpressionValue(
                    "items", of=common_value([self._evaluate_and_keep(part, scope) for part in node.elts])
                )
            case ast.Dict():
                for key in node.keys:
                    if key is not None:
                        self._evaluate_and_keep(key, scope)
                return ExpressionValue(
                    "items", of=common_value([self._evaluate_and_keep(part, scope) for part in node.values])
                )
            case ast.ListComp() | ast.SetComp() | ast.GeneratorExp() | ast.DictComp():
                inner = ValueScope({}, {}, ValueScope(scope.names, scope.names, scope.outer))
                for generator in node.generators:
                    self._bind_target(
                        generator.target, element_value(self._evaluate_and_keep(generator.iter, inner)), inner
                    )
                    for test in generator.ifs:
                        self._evaluate_and_keep(test, inner)
                if isinstance(node, ast.DictComp):
                    self._evaluate_and_keep(node.key, inner)
                return ExpressionValue(
                    "items",
                    of=self._evaluate_and_keep(node.value if isinstance(node, ast.DictComp) else node.elt, inner),
                )
            case ast.NamedExpr():
                value = self._evaluate_and_keep(node.value, scope)
                self._bind_target(node.target, value, scope)
                return value
            case ast.Lambda():
                names: dict[str, ExpressionValue | None] = {parameter.arg: None for parameter in node.args.args}
                self._evaluate_and_keep(
                    node.body, ValueScope(names, {}, ValueScope(scope.names, scope.names, scope.outer))
                )
                return PLAIN_VALUE
        found: list[ExpressionValue | None] = [
            self._evaluate_and_keep(part, scope) for part in ast.iter_child_nodes(node) if isinstance(part, ast.expr)
        ]
        return found[0] if len(found) == 1 else None

    def _attribute_value(
        self, node: ast.Attribute, owner: ExpressionValue | None, scope: ValueScope
    ) -> ExpressionValue | None:
        path = self._dotted_path(node)
        if path and (not isinstance(node.value, ast.Name) or scope.value_of_name(node.value.id) is None):
            return ExpressionValue("device", "gpu") if CUDA_TENSOR_TYPE_PATTERN.match(path) else PLAIN_VALUE
        if node.attr == "device" and owner is not None and owner.kind in ("tensor", "module"):
            return ExpressionValue("device", owner.on)
        if owner is None or owner.kind == "plain":
            return self._attributes.get(node.attr)
        if owner.kind == "device":
            return owner
        if owner.kind == "module":
            value = self._attributes.get(node.attr)
            if value is None:
                return ExpressionValue("tensor", owner.on) if node.attr in _TENSOR_ATTRIBUTES_OF_MODULES else None
            return replace(value, on=owner.on, rides=False) if value.rides else value
        return PLAIN_VALUE if node.attr in _PLAIN_ATTRIBUTES else owner

    def _call_value(self, node: ast.Call, scope: ValueScope) -> ExpressionValue | None:
        function = node.func
        owner = self._evaluate_and_keep(function.value, scope) if isinstance(function, ast.Attribute) else None
        called = self._evaluate_and_keep(function, scope) if not isinstance(function, ast.Attribute) else None
        arguments = [self._evaluate_and_keep(argument, scope) for argument in node.args]
        keywords = {keyword.arg: self._evaluate_and_keep(keyword.value, scope) for keyword in node.keywords}
        everything = [*arguments, *keywords.values()]
        path = self._dotted_path(function)
        if path and not (isinstance(function, ast.Name) and scope.value_of_name(function.id) is not None):
            return self._library_call_value(node, path, arguments, keywords)
        if isinstance(function, ast.Attribute):
            return self._method_call_value(node, function.attr, owner, arguments, keywords, scope)
        if not isinstance(function, ast.Name):
            return self._module_call_value(called, everything)
        name = function.id
        if name in self._classes:
            self._bind_arguments(self._methods_of_class(name, "__init__"), node, arguments, keywords, skip=1)
            if self.is_module_class(name):
                return ExpressionValue("module", self._default, cls=name)
            is_data = any("torch.utils.data" in self._dotted_path(base) for base in self._classes[name].bases)
            return (
                ExpressionValue("items", of=self._dataset_item_value(name), cls=name)
                if is_data
                else ExpressionValue("plain", cls=name)
            )
        if called is not None and called.kind in ("module", "tensor"):
            return self._module_call_value(called, [*everything], node, arguments, keywords)
        if name in self._functions:
            self._bind_arguments(self._functions[name], node, arguments, keywords)
            return common_value([self._returns.get(each) for each in self._functions[name]])
        return self._builtin_call_value(name, arguments)

    def _builtin_call_value(self, name: str, arguments: list[ExpressionValue | None]) -> ExpressionValue | None:
        first = arguments[0] if arguments else None
        if name in _PLAIN_FUNCTIONS:
            return PLAIN_VALUE
        if name == "enumerate":
            return ExpressionValue("items", of=element_value(first))
        if name == "zip":
            return ExpressionValue("items", of=common_value([element_value(value) for value in arguments]))
        if name == "next":
            return element_value(first)
        return first if name in _FUNCTIONS_THAT_KEEP_ELEMENTS else None

    def _module_call_value(
        self, called: ExpressionValue | None, everything: list[ExpressionValue | None], node: ast.Call | None = None,
        arguments: list[ExpressionValue | None] | None = None,
        keywords: dict[str | None, ExpressionValue | None] | None = None,
    ) -> ExpressionValue | None:  # fmt: skip
        """The value of a module call: a tensor on the device of the module or of one of its arguments."""
        if called is None or called.kind != "module":
            return None
        if called.cls and node is not None:
            self._bind_arguments(
                self._methods_of_class(called.cls, "forward"), node, arguments or [], keywords or {}, skip=1
            )
        places = {
            value.on for value in [called, *everything] if value is not None and value.kind in ("tensor", "module")
        }
        return ExpressionValue("tensor", "gpu" if "gpu" in places else None if None in places else "cpu")

    def _dataset_item_value(self, name: str) -> ExpressionValue | None:
        """The value of indexing a data set of the program: tensors on the CPU, unless it moves them."""
        found = common_value([self._returns.get(method) for method in self._methods_of_class(name, "__getitem__")])
        inner = found.of if found is not None and found.kind == "items" else found
        return ExpressionValue(
            "tensor", inner.on if inner is not None and inner.kind == "tensor" and inner.on else "cpu"
        )

    def _library_call_value(
        self,
        node: ast.Call,
        path: str,
        arguments: list[ExpressionValue | None],
        keywords: dict[str | None, ExpressionValue | None],
    ) -> ExpressionValue | None:
        first = arguments[0] if arguments else None
        top, last = path.split(".")[0], path.rsplit(".", 1)[1] if "." in path else path
        asked = keywords.get("device")
        place: DeviceKind | None = asked.on if asked is not None and asked.kind in ("device", "tensor") else None
        if asked is not None and asked.kind == "number":
            place = "gpu"
        if top in ("tqdm", "copy"):
            return first
        if top != "torch":
            return PLAIN_VALUE
        if path == "torch.device":
            number = first is not None and first.kind == "number"
            return (
                ExpressionValue("device", "gpu")
                if number
                else first
                if first is not None and first.kind == "device"
                else None
            )
        if path in ("torch.set_default_device", "torch.set_default_tensor_type"):
            if first is not None and first.kind == "device" and first.on is not None:
                self._default = first.on
            elif node.args and CUDA_TENSOR_TYPE_PATTERN.match(str(getattr(node.args[0], "value", ""))):
                self._default = "gpu"
            return PLAIN_VALUE
        if path.startswith("torch.utils.data."):
            of = (
                element_value(first)
                if last == "DataLoader"
                else ExpressionValue("tensor", self._device_of_tensors(arguments) or "cpu")
            )
            return ExpressionValue(
                "items", of=of if of is not None and of.kind == "tensor" else ExpressionValue("tensor", "cpu")
            )
        if path.startswith("torch.nn.") and not path.startswith(
            ("torch.nn.functional.", "torch.nn.utils.", "torch.nn.init.")
        ):
            if last in ("Parameter", "Buffer"):
                return ExpressionValue("tensor", self._device_of_tensors(arguments) or "cpu", rides=True)
            if last == "DataParallel":
                return first
            inner = [value for value in arguments if value is not None and value.kind == "module"]
            return ExpressionValue("module", place or (inner[0].on if inner else self._default))
        if path.startswith(("torch.optim.", "torch.amp.", "torch.cuda.", "torch.autocast", "torch.manual_seed")):
            return ExpressionValue("tensor", "gpu") if CUDA_TENSOR_TYPE_PATTERN.match(path) else PLAIN_VALUE
        if path == "torch.load":
            asked = keywords.get("map_location")
            return ExpressionValue("tensor", asked.on if asked is not None and asked.kind == "device" else None)
        if path in _FUNCTIONS_FROM_ARRAY:
            return ExpressionValue("tensor", "cpu")
        if path.startswith(_FUNCTIONS_RETURNING_MODULE) and not path.startswith(_PREFIXES_RETURNING_TENSOR):
            return first
        if path.count(".") > 1 and not path.startswith(_PREFIXES_RETURNING_TENSOR):
            return None
        if place is None and "device" in keywords and asked is None:
            place = "gpu"
        found = self._device_of_tensors([*arguments, *(value for name, value in keywords.items() if name != "device")])
        return ExpressionValue("tensor", place or found or self._default)

    def _device_of_tensors(self, values: Iterable[ExpressionValue | None]) -> DeviceKind | None:
        """The device of the tensors among these values; None if there are none."""
        flat = [value.of if value is not None and value.kind == "items" else value for value in values]
        places = [value.on for value in flat if value is not None and value.kind == "tensor"]
        return "gpu" if "gpu" in places else places[0] if places else None

    def _method_call_value(
        self, node: ast.Call, name: str, owner: ExpressionValue | None, arguments: list[ExpressionValue | None],
        keywords: dict[str | None, ExpressionValue | None], scope: ValueScope,
    ) -> ExpressionValue | None:  # fmt: skip
        everything = [*arguments, *keywords.values()]
        if name in MOVE_METHODS and owner is not None and owner.kind in ("tensor", "module"):
            place = "cpu" if name == "pin_memory" else self.move_target(node)
            if owner.kind == "module" and place is not None:
                self._record_module_move(node, owner, place, scope)
            return replace(owner, on=place or owner.on, rides=False)
        if name in MOVE_METHODS and not self.defines_function(name):
            place = self.move_target(node)
            return owner if owner is not None else ExpressionValue("tensor", place) if place is not None else None
        if owner is None or owner.kind in ("plain", "module"):
            own = (
                self._methods_of_class(owner.cls, name)
                if owner is not None and owner.cls
                else self._functions.get(name, [])
            )
            if own:
                self._bind_arguments(own, node, arguments, keywords, skip=1)
                return common_value([self._returns.get(each) for each in own])
        if name in ("register_buffer", "register_parameter") and node.args and isinstance(node.args[0], ast.Constant):
            value = arguments[1] if len(arguments) > 1 else None
            riding = None if value is None else replace(value, rides=True)
            self._attributes[str(node.args[0].value)] = common_value(
                [self._attributes.get(str(node.args[0].value)), riding]
            )
            return PLAIN_VALUE
        if owner is None:
            return None
        if owner.kind == "items":
            if name == "append" and isinstance(node.func, ast.Attribute) and isinstance(node.func.value, ast.Name):
                scope.names[node.func.value.id] = ExpressionValue(
                    "items", of=common_value([owner.of, arguments[0] if arguments else None])
                )
            return element_value(owner) if name in ("pop", "get") else owner
        if owner.kind == "device":
            return owner if name in ("format", "lower", "strip") else PLAIN_VALUE
        if owner.kind == "module":
            return self._module_method_value(name, owner, everything)
        if owner.kind == "tensor":
            if name in _PLAIN_METHODS:
                return PLAIN_VALUE
            if name in ("items", "values"):
                return ExpressionValue("items", of=owner)
            if name == "new_tensor" or name.startswith("new_"):
                asked = keywords.get("device")
                return ExpressionValue("tensor", asked.on if asked is not None and asked.kind == "device" else owner.on)
            return ExpressionValue("tensor", self._device_of_tensors([owner, *everything]))
        called = self._attribute_value(node.func, owner, scope) if isinstance(node.func, ast.Attribute) else None
        return self._module_call_value(called, everything, node, arguments, keywords)

    def _module_method_value(
        self, name: str, owner: ExpressionValue, everything: list[ExpressionValue | None]
    ) -> ExpressionValue | None:
        if name in _MODULE_METHODS:
            return owner
        if name in ("parameters", "buffers", "named_parameters", "named_buffers", "state_dict"):
            return ExpressionValue("items", of=ExpressionValue("tensor", owner.on))
        if name in _PLAIN_METHODS or name == "load_state_dict":
            return PLAIN_VALUE
        called = self._attributes.get(name)
        if called is not None and called.kind != "module":
            return None
        return self._module_call_value(owner, everything)

    def _record_module_move(self, node: ast.Call, owner: ExpressionValue, place: DeviceKind, scope: ValueScope) -> None:
        """Note that a module was moved in place, so its name has another device from now on."""
        if place == "gpu":
            self._modules_lie = "gpu"
        receiver = node.func.value if isinstance(node.func, ast.Attribute) else None
        if isinstance(receiver, ast.Name) and receiver.id in scope.names:
            scope.names[receiver.id] = replace(owner, on=place)

    def _methods_of_class(self, cls: str, name: str) -> list[Function]:
        body = self._classes[cls].body if cls in self._classes else []
        return [part for part in body if isinstance(part, Function) and part.name == name]

    def _bind_arguments(
        self, functions: list[Function], node: ast.Call, arguments: list[ExpressionValue | None],
        keywords: dict[str | None, ExpressionValue | None], skip: int = 0,
    ) -> None:  # fmt: skip
        starred = any(isinstance(argument, ast.Starred) for argument in node.args)
        for function in functions:
            parameters = [parameter.arg for parameter in [*function.args.posonlyargs, *function.args.args]][skip:]
            given = dict(zip(parameters, [] if starred else arguments, strict=False))
            named = {parameter.arg for parameter in function.args.kwonlyargs} | set(parameters)
            given |= {name: value for name, value in keywords.items() if name in named and name is not None}
            for name, value in given.items():
                self._arguments[function, name] = common_value([self._arguments.get((function, name)), value])

    def _operator_value(self, values: list[ExpressionValue | None]) -> ExpressionValue | None:
        """The value of an operator: a tensor if one of its operands is one."""
        if any(value is not None and value.kind == "tensor" for value in values):
            return ExpressionValue("tensor", self._device_of_tensors(values))
        known = [value for value in values if value is not None]
        return None if len(known) < len(values) else ExpressionValue("plain")

    def _dotted_path(self, node: ast.AST) -> str:
        return self._modules.dotted_path(node) or ""


def device_argument(call: ast.Call) -> ast.expr | None:
    """The device argument of a call of `to` or `type`: the first argument or the keyword."""
    named = next((keyword.value for keyword in call.keywords if keyword.arg in ("device", "other")), None)
    return named if named is not None else call.args[0] if call.args else None


def starts_with_cuda_index(node: ast.AST) -> bool:
    """Whether a composed string begins with "cuda"."""
    if isinstance(node, ast.JoinedStr):
        node = node.values[0] if node.values else node
    elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add | ast.Mod):
        node = node.left
    return isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value.startswith("cuda:")


def tests_cuda_availability(test: ast.AST) -> bool:
    """Whether a condition is true only if there is a GPU."""
    if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And):
        return any(tests_cuda_availability(part) for part in test.values)
    return isinstance(test, ast.Call) and isinstance(test.func, ast.Attribute) and test.func.attr == "is_available"
