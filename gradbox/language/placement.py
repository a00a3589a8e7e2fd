"""Where the values of a program lie on a machine with a GPU, as far as its syntax tree tells.

The tree is gone through as the program runs, but each statement once: a loop's body after its first iteration is taken for
what it is in the first, a function's parameters for what its calls give it.
"""

import ast
import re
from collections.abc import Iterable
from dataclasses import replace

from gradbox.language.device_values import PLAIN, Place, Scope, Value, elements, join
from gradbox.language.names import ImportedModules

Function = ast.FunctionDef | ast.AsyncFunctionDef

CUDA_NAME = re.compile(r"cuda(:\d*)?$")
CUDA_TYPE = re.compile(r"torch\.cuda\.(\w+Tensor)$")
MOVES = ("cuda", "cpu", "to", "type", "type_as", "pin_memory")

_PASSES = 3
"""The values of parameters and attributes are known in the pass after the one that found them."""

_DEVICE_NAME = re.compile(r"device|cuda|gpu|rank", re.I)
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
_PASSED_ON = frozenset(["list", "tuple", "iter", "reversed", "sorted", "set"])
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
_WEIGHTS = frozenset(["weight", "bias", "grad", "running_mean", "running_var", "in_proj_weight"])
_USES_OF_MODULES = frozenset(
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
_GIVE_A_MODULE = (
    "torch.compile",
    "torch.jit.script",
    "torch.jit.trace",
    "torch.nn.utils.",
    "torch.ao.",
    "torch.quantization.",
)
_GIVE_A_TENSOR = ("torch.nn.functional.", "torch.linalg.", "torch.fft.", "torch.special.", "torch.func.functional_call",
                  "torch.nn.utils.rnn.", "torch.Tensor.")  # fmt: skip
_FROM_ARRAY = frozenset(("torch.from_numpy", "torch.frombuffer"))


class Placement:
    """Asks the tree of one program. Raises RecursionError for one that is nested too deep."""

    def __init__(self, tree: ast.Module, modules: ImportedModules, nodes: Iterable[ast.AST]) -> None:
        self._modules = modules
        self._classes = {node.name: node for node in nodes if isinstance(node, ast.ClassDef)}
        functions = [node for node in nodes if isinstance(node, Function)]
        self._functions: dict[str, list[Function]] = {}
        for function in functions:
            self._functions.setdefault(function.name, []).append(function)
        self._values: dict[ast.AST, Value | None] = {}
        self._finals: dict[ast.AST, dict[str, Value | None]] = {}
        self._arguments: dict[tuple[Function, str], Value | None] = {}
        self._returns: dict[Function, Value | None] = {}
        self._attributes: dict[str, Value | None] = {}
        self._modules_lie: Place = "cpu"
        self._default: Place = "cpu"
        self._used_as_modules = {
            node.value.id
            for node in nodes
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.attr in _USES_OF_MODULES
        }
        for _ in range(_PASSES):
            self._values, self._default = {}, "cpu"
            scope = Scope({}, self._finals.get(tree, {}))
            self._block(tree.body, scope)
            self._finals[tree] = scope.names

    def of(self, node: ast.AST) -> Value | None:
        """What an expression gives; None where the tree doesn't tell."""
        return self._values.get(node)

    def defines_function(self, name: str) -> bool:
        """Whether the program has a function or method of that name itself."""
        return name in self._functions

    def module_class(self, name: str, seen: tuple[str, ...] = ()) -> bool:
        """Whether a class of the program is a module."""
        return any(
            (self._modules.path(base) or "").startswith(("torch.nn.", "torch.nn"))
            or (isinstance(base, ast.Name) and base.id in self._classes and base.id not in seen
                and self.module_class(base.id, (*seen, name)))
            for base in self._classes[name].bases
        )  # fmt: skip

    def target(self, call: ast.Call) -> Place | None:
        """Where a call of `to`, `cuda`, `cpu` or `type_as` moves its tensor or module; None if it only changes the dtype."""
        method = call.func.attr if isinstance(call.func, ast.Attribute) else ""
        if method in ("cuda", "cpu"):
            return "gpu" if method == "cuda" else "cpu"
        wanted = device_argument(call)
        if wanted is None:
            return None
        return self._place_named(wanted, method)

    def _place_named(self, node: ast.AST, method: str) -> Place | None:
        if CUDA_TYPE.match(self._modules.path(node) or "") or CUDA_TYPE.match(str(getattr(node, "value", ""))):
            return "gpu"
        value = self.of(node)
        if value is not None and value.kind == "number":
            return "gpu"
        if value is not None and value.kind in ("device", "tensor"):
            return value.on if value.on is not None else "gpu"
        if value is None and method != "type" and _DEVICE_NAME.search(ast.unparse(node)):
            return "gpu"
        return None

    # statements

    def _block(self, body: Iterable[ast.stmt], scope: Scope) -> None:
        for statement in body:
            self._statement(statement, scope)

    def _statement(self, node: ast.stmt, scope: Scope) -> None:
        match node:
            case ast.Assign():
                value = self._eval(node.value, scope)
                for target in node.targets:
                    self._bind(target, value, scope, node.value)
            case ast.AnnAssign() if node.value is not None:
                self._bind(node.target, self._eval(node.value, scope), scope, node.value)
            case ast.AugAssign():
                joined = self._combined([self._eval(node.target, scope), self._eval(node.value, scope)])
                self._bind(node.target, joined, scope)
            case ast.For() | ast.AsyncFor():
                self._bind(node.target, elements(self._eval(node.iter, scope)), scope)
                self._block([*node.body, *node.orelse], scope)
            case ast.While():
                self._eval(node.test, scope)
                self._block([*node.body, *node.orelse], scope)
            case ast.If():
                self._eval(node.test, scope)
                before = dict(scope.names)
                self._block(node.body, scope)
                after, scope.names = scope.names, before
                self._block(node.orelse, scope)
                only_here = asks_for_cuda(node.test)  # the body does not run without a GPU; a device is as if it did
                scope.names.update(
                    {name: value for name, value in after.items()
                     if value is not None and (not only_here or value.kind == "device")}
                )  # fmt: skip
            case ast.With() | ast.AsyncWith():
                self._with(node, scope)
            case ast.Try():
                handlers = [part for handler in node.handlers for part in handler.body]
                self._block([*node.body, *handlers, *node.orelse, *node.finalbody], scope)
            case ast.Match():
                self._eval(node.subject, scope)
                for case in node.cases:
                    self._block(case.body, scope)
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                self._function(node, scope, "")
            case ast.ClassDef():
                inner = Scope({}, self._finals.get(node, {}), scope)
                for part in node.body:
                    if isinstance(part, Function):
                        self._function(part, scope, node.name)
                    else:
                        self._statement(part, inner)
                self._finals[node] = inner.names
            case ast.Return():
                scope.returned.append(self._eval(node.value, scope) if node.value is not None else PLAIN)
            case _:
                for expression in ast.iter_child_nodes(node):
                    if isinstance(expression, ast.expr):
                        self._eval(expression, scope)

    def _with(self, node: ast.With | ast.AsyncWith, scope: Scope) -> None:
        default = self._default
        for item in node.items:
            value = self._eval(item.context_expr, scope)
            if value is not None and value.kind == "device" and value.on is not None:
                self._default = value.on
            if item.optional_vars is not None:
                self._bind(item.optional_vars, value, scope)
        self._block(node.body, scope)
        self._default = default

    def _function(self, node: Function, scope: Scope, cls: str) -> None:
        names: dict[str, Value | None] = {}
        parameters = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
        for parameter in parameters:
            names[parameter.arg] = self._arguments.get((node, parameter.arg))
        positional = [*node.args.posonlyargs, *node.args.args]
        defaults = dict(zip(positional[::-1], node.args.defaults[::-1], strict=False))
        defaults |= {
            arg: value for arg, value in zip(node.args.kwonlyargs, node.args.kw_defaults, strict=True) if value
        }
        for parameter, default in defaults.items():
            value = self._eval(default, scope)
            if names[parameter.arg] is None and value is not None and value.kind == "device":
                names[parameter.arg] = value
        if cls and positional:
            is_module = self.module_class(cls)
            lies: Place = "cpu" if node.name == "__init__" else self._modules_lie
            names[positional[0].arg] = Value("module", lies, cls=cls) if is_module else Value("plain", cls=cls)
        inner = Scope(names, self._finals.get(node, {}), scope)
        self._block(node.body, inner)
        self._finals[node] = inner.names
        if inner.returned:
            self._returns[node] = join(inner.returned)

    def _bind(self, target: ast.AST, value: Value | None, scope: Scope, source: ast.AST | None = None) -> None:
        if isinstance(target, ast.Name):
            scope.names[target.id] = value
        elif isinstance(target, ast.Starred):
            self._bind(target.value, value, scope)
        elif isinstance(target, ast.Tuple | ast.List):
            parts: list[Value | None] = [elements(value)] * len(target.elts)
            starred = any(isinstance(part, ast.Starred) for part in target.elts)
            if isinstance(source, ast.Tuple | ast.List) and len(source.elts) == len(target.elts) and not starred:
                parts = [self.of(part) for part in source.elts]
            for part, element in zip(target.elts, parts, strict=True):
                self._bind(part, element, scope)
        elif isinstance(target, ast.Attribute):
            self._eval(target.value, scope)
            if isinstance(source, ast.Call) and self._path(source.func).startswith("torch.nn.") and value is not None:
                value = replace(value, rides=True)
            self._attributes[target.attr] = join([self._attributes.get(target.attr), value])
        elif isinstance(target, ast.Subscript):
            self._eval(target, scope)
            if isinstance(target.value, ast.Name):
                held = scope.find(target.value.id)
                if held is not None and held.kind == "items" and held.of is None:
                    scope.names[target.value.id] = Value("items", of=value)

    # expressions

    def _eval(self, node: ast.AST, scope: Scope) -> Value | None:
        value = self._evaluated(node, scope)
        if node not in self._values or self._values[node] is None:
            self._values[node] = value
        return value

    def _evaluated(self, node: ast.AST, scope: Scope) -> Value | None:
        match node:
            case ast.Constant(value=str(text)):
                if CUDA_NAME.match(text):
                    return Value("device", "gpu")
                return Value("device", "cpu") if text == "cpu" else PLAIN
            case ast.Constant(value=constant):
                return Value("number") if type(constant) is int else PLAIN
            case ast.JoinedStr():
                for part in node.values:
                    if isinstance(part, ast.FormattedValue):
                        self._eval(part.value, scope)
                return Value("device", "gpu") if starts_with_cuda(node) else PLAIN
            case ast.Name():
                value = scope.find(node.id)
                if value is None and node.id in self._used_as_modules:
                    return Value("module")
                return value
            case ast.Call():
                return self._call(node, scope)
            case ast.Attribute():
                return self._attribute(node, self._eval(node.value, scope), scope)
            case ast.Subscript():
                self._eval(node.slice, scope)
                value = self._eval(node.value, scope)
                return value if value is not None and value.kind == "module" else elements(value)
            case ast.BinOp():
                left, right = self._eval(node.left, scope), self._eval(node.right, scope)
                if starts_with_cuda(node):
                    return Value("device", "gpu")
                return self._combined([left, right])
            case ast.UnaryOp():
                return self._eval(node.operand, scope)
            case ast.Compare():
                return self._combined([self._eval(part, scope) for part in [node.left, *node.comparators]])
            case ast.BoolOp():
                return join([self._eval(part, scope) for part in node.values])
            case ast.IfExp():
                self._eval(node.test, scope)
                first, second = self._eval(node.body, scope), self._eval(node.orelse, scope)
                if asks_for_cuda(node.test):
                    return first if first is not None and first.kind == "device" else second
                return join([first, second])
            case ast.Tuple() | ast.List() | ast.Set():
                return Value("items", of=join([self._eval(part, scope) for part in node.elts]))
            case ast.Dict():
                for key in node.keys:
                    if key is not None:
                        self._eval(key, scope)
                return Value("items", of=join([self._eval(part, scope) for part in node.values]))
            case ast.ListComp() | ast.SetComp() | ast.GeneratorExp() | ast.DictComp():
                inner = Scope({}, {}, Scope(scope.names, scope.names, scope.outer))
                for generator in node.generators:
                    self._bind(generator.target, elements(self._eval(generator.iter, inner)), inner)
                    for test in generator.ifs:
                        self._eval(test, inner)
                if isinstance(node, ast.DictComp):
                    self._eval(node.key, inner)
                return Value("items", of=self._eval(node.value if isinstance(node, ast.DictComp) else node.elt, inner))
            case ast.NamedExpr():
                value = self._eval(node.value, scope)
                self._bind(node.target, value, scope)
                return value
            case ast.Lambda():
                names: dict[str, Value | None] = {parameter.arg: None for parameter in node.args.args}
                self._eval(node.body, Scope(names, {}, Scope(scope.names, scope.names, scope.outer)))
                return PLAIN
        found: list[Value | None] = [
            self._eval(part, scope) for part in ast.iter_child_nodes(node) if isinstance(part, ast.expr)
        ]
        return found[0] if len(found) == 1 else None

    def _attribute(self, node: ast.Attribute, owner: Value | None, scope: Scope) -> Value | None:
        path = self._path(node)
        if path and (not isinstance(node.value, ast.Name) or scope.find(node.value.id) is None):
            return Value("device", "gpu") if CUDA_TYPE.match(path) else PLAIN
        if node.attr == "device" and owner is not None and owner.kind in ("tensor", "module"):
            return Value("device", owner.on)
        if owner is None or owner.kind == "plain":
            return self._attributes.get(node.attr)
        if owner.kind == "device":
            return owner
        if owner.kind == "module":
            value = self._attributes.get(node.attr)
            if value is None:
                return Value("tensor", owner.on) if node.attr in _WEIGHTS else None
            return replace(value, on=owner.on, rides=False) if value.rides else value
        return PLAIN if node.attr in _PLAIN_ATTRIBUTES else owner

    def _call(self, node: ast.Call, scope: Scope) -> Value | None:
        function = node.func
        owner = self._eval(function.value, scope) if isinstance(function, ast.Attribute) else None
        called = self._eval(function, scope) if not isinstance(function, ast.Attribute) else None
        arguments = [self._eval(argument, scope) for argument in node.args]
        keywords = {keyword.arg: self._eval(keyword.value, scope) for keyword in node.keywords}
        everything = [*arguments, *keywords.values()]
        path = self._path(function)
        if path and not (isinstance(function, ast.Name) and scope.find(function.id) is not None):
            return self._library_call(node, path, arguments, keywords)
        if isinstance(function, ast.Attribute):
            return self._method(node, function.attr, owner, arguments, keywords, scope)
        if not isinstance(function, ast.Name):
            return self._module_call_value(called, everything)
        name = function.id
        if name in self._classes:
            self._pass_arguments(self._methods_of(name, "__init__"), node, arguments, keywords, skip=1)
            if self.module_class(name):
                return Value("module", self._default, cls=name)
            is_data = any("torch.utils.data" in self._path(base) for base in self._classes[name].bases)
            return Value("items", of=self._items_of(name), cls=name) if is_data else Value("plain", cls=name)
        if called is not None and called.kind in ("module", "tensor"):
            return self._module_call_value(called, [*everything], node, arguments, keywords)
        if name in self._functions:
            self._pass_arguments(self._functions[name], node, arguments, keywords)
            return join([self._returns.get(each) for each in self._functions[name]])
        return self._builtin_call_value(name, arguments)

    def _builtin_call_value(self, name: str, arguments: list[Value | None]) -> Value | None:
        first = arguments[0] if arguments else None
        if name in _PLAIN_FUNCTIONS:
            return PLAIN
        if name == "enumerate":
            return Value("items", of=elements(first))
        if name == "zip":
            return Value("items", of=join([elements(value) for value in arguments]))
        if name == "next":
            return elements(first)
        return first if name in _PASSED_ON else None

    def _module_call_value(
        self, called: Value | None, everything: list[Value | None], node: ast.Call | None = None,
        arguments: list[Value | None] | None = None, keywords: dict[str | None, Value | None] | None = None,
    ) -> Value | None:  # fmt: skip
        """What a call of a module gives: a tensor where the module or one of its arguments lies."""
        if called is None or called.kind != "module":
            return None
        if called.cls and node is not None:
            self._pass_arguments(self._methods_of(called.cls, "forward"), node, arguments or [], keywords or {}, skip=1)
        places = {
            value.on for value in [called, *everything] if value is not None and value.kind in ("tensor", "module")
        }
        return Value("tensor", "gpu" if "gpu" in places else None if None in places else "cpu")

    def _items_of(self, name: str) -> Value | None:
        """What an index of a data set of the program gives: tensors on the CPU, unless it moves them."""
        found = join([self._returns.get(method) for method in self._methods_of(name, "__getitem__")])
        inner = found.of if found is not None and found.kind == "items" else found
        return Value("tensor", inner.on if inner is not None and inner.kind == "tensor" and inner.on else "cpu")

    def _library_call(
        self, node: ast.Call, path: str, arguments: list[Value | None], keywords: dict[str | None, Value | None]
    ) -> Value | None:
        first = arguments[0] if arguments else None
        top, last = path.split(".")[0], path.rsplit(".", 1)[1] if "." in path else path
        asked = keywords.get("device")
        place: Place | None = asked.on if asked is not None and asked.kind in ("device", "tensor") else None
        if asked is not None and asked.kind == "number":
            place = "gpu"
        if top in ("tqdm", "copy"):
            return first
        if top != "torch":
            return PLAIN
        if path == "torch.device":
            number = first is not None and first.kind == "number"
            return Value("device", "gpu") if number else first if first is not None and first.kind == "device" else None
        if path in ("torch.set_default_device", "torch.set_default_tensor_type"):
            if first is not None and first.kind == "device" and first.on is not None:
                self._default = first.on
            elif node.args and CUDA_TYPE.match(str(getattr(node.args[0], "value", ""))):
                self._default = "gpu"
            return PLAIN
        if path.startswith("torch.utils.data."):
            of = elements(first) if last == "DataLoader" else Value("tensor", self._place_of(arguments) or "cpu")
            return Value("items", of=of if of is not None and of.kind == "tensor" else Value("tensor", "cpu"))
        if path.startswith("torch.nn.") and not path.startswith(
            ("torch.nn.functional.", "torch.nn.utils.", "torch.nn.init.")
        ):
            if last in ("Parameter", "Buffer"):
                return Value("tensor", self._place_of(arguments) or "cpu", rides=True)
            if last == "DataParallel":
                return first
            inner = [value for value in arguments if value is not None and value.kind == "module"]
            return Value("module", place or (inner[0].on if inner else self._default))
        if path.startswith(("torch.optim.", "torch.amp.", "torch.cuda.", "torch.autocast", "torch.manual_seed")):
            return Value("tensor", "gpu") if CUDA_TYPE.match(path) else PLAIN
        if path == "torch.load":
            asked = keywords.get("map_location")
            return Value("tensor", asked.on if asked is not None and asked.kind == "device" else None)
        if path in _FROM_ARRAY:
            return Value("tensor", "cpu")
        if path.startswith(_GIVE_A_MODULE) and not path.startswith(_GIVE_A_TENSOR):
            return first
        if path.count(".") > 1 and not path.startswith(_GIVE_A_TENSOR):
            return None
        if place is None and "device" in keywords and asked is None:
            place = "gpu"
        found = self._place_of([*arguments, *(value for name, value in keywords.items() if name != "device")])
        return Value("tensor", place or found or self._default)

    def _place_of(self, values: Iterable[Value | None]) -> Place | None:
        """Where the tensors among these lie; None if none is among them."""
        flat = [value.of if value is not None and value.kind == "items" else value for value in values]
        places = [value.on for value in flat if value is not None and value.kind == "tensor"]
        return "gpu" if "gpu" in places else places[0] if places else None

    def _method(
        self, node: ast.Call, name: str, owner: Value | None, arguments: list[Value | None],
        keywords: dict[str | None, Value | None], scope: Scope,
    ) -> Value | None:  # fmt: skip
        everything = [*arguments, *keywords.values()]
        if name in MOVES and owner is not None and owner.kind in ("tensor", "module"):
            place = "cpu" if name == "pin_memory" else self.target(node)
            if owner.kind == "module" and place is not None:
                self._move(node, owner, place, scope)
            return replace(owner, on=place or owner.on, rides=False)
        if name in MOVES and not self.defines_function(name):
            place = self.target(node)
            return owner if owner is not None else Value("tensor", place) if place is not None else None
        if owner is None or owner.kind in ("plain", "module"):
            own = (
                self._methods_of(owner.cls, name) if owner is not None and owner.cls else self._functions.get(name, [])
            )
            if own:
                self._pass_arguments(own, node, arguments, keywords, skip=1)
                return join([self._returns.get(each) for each in own])
        if name in ("register_buffer", "register_parameter") and node.args and isinstance(node.args[0], ast.Constant):
            value = arguments[1] if len(arguments) > 1 else None
            riding = None if value is None else replace(value, rides=True)
            self._attributes[str(node.args[0].value)] = join([self._attributes.get(str(node.args[0].value)), riding])
            return PLAIN
        if owner is None:
            return None
        if owner.kind == "items":
            if name == "append" and isinstance(node.func, ast.Attribute) and isinstance(node.func.value, ast.Name):
                scope.names[node.func.value.id] = Value(
                    "items", of=join([owner.of, arguments[0] if arguments else None])
                )
            return elements(owner) if name in ("pop", "get") else owner
        if owner.kind == "device":
            return owner if name in ("format", "lower", "strip") else PLAIN
        if owner.kind == "module":
            return self._method_of_module(name, owner, everything)
        if owner.kind == "tensor":
            if name in _PLAIN_METHODS:
                return PLAIN
            if name in ("items", "values"):
                return Value("items", of=owner)
            if name == "new_tensor" or name.startswith("new_"):
                asked = keywords.get("device")
                return Value("tensor", asked.on if asked is not None and asked.kind == "device" else owner.on)
            return Value("tensor", self._place_of([owner, *everything]))
        called = self._attribute(node.func, owner, scope) if isinstance(node.func, ast.Attribute) else None
        return self._module_call_value(called, everything, node, arguments, keywords)

    def _method_of_module(self, name: str, owner: Value, everything: list[Value | None]) -> Value | None:
        if name in _MODULE_METHODS:
            return owner
        if name in ("parameters", "buffers", "named_parameters", "named_buffers", "state_dict"):
            return Value("items", of=Value("tensor", owner.on))
        if name in _PLAIN_METHODS or name == "load_state_dict":
            return PLAIN
        called = self._attributes.get(name)
        if called is not None and called.kind != "module":
            return None
        return self._module_call_value(owner, everything)

    def _move(self, node: ast.Call, owner: Value, place: Place, scope: Scope) -> None:
        """A module is moved itself: its name has another place from now on."""
        if place == "gpu":
            self._modules_lie = "gpu"
        receiver = node.func.value if isinstance(node.func, ast.Attribute) else None
        if isinstance(receiver, ast.Name) and receiver.id in scope.names:
            scope.names[receiver.id] = replace(owner, on=place)

    def _methods_of(self, cls: str, name: str) -> list[Function]:
        body = self._classes[cls].body if cls in self._classes else []
        return [part for part in body if isinstance(part, Function) and part.name == name]

    def _pass_arguments(
        self, functions: list[Function], node: ast.Call, arguments: list[Value | None],
        keywords: dict[str | None, Value | None], skip: int = 0,
    ) -> None:  # fmt: skip
        starred = any(isinstance(argument, ast.Starred) for argument in node.args)
        for function in functions:
            parameters = [parameter.arg for parameter in [*function.args.posonlyargs, *function.args.args]][skip:]
            given = dict(zip(parameters, [] if starred else arguments, strict=False))
            named = {parameter.arg for parameter in function.args.kwonlyargs} | set(parameters)
            given |= {name: value for name, value in keywords.items() if name in named and name is not None}
            for name, value in given.items():
                self._arguments[function, name] = join([self._arguments.get((function, name)), value])

    def _combined(self, values: list[Value | None]) -> Value | None:
        """What an operator gives: a tensor, if one of its operands is one."""
        if any(value is not None and value.kind == "tensor" for value in values):
            return Value("tensor", self._place_of(values))
        known = [value for value in values if value is not None]
        return None if len(known) < len(values) else Value("plain")

    def _path(self, node: ast.AST) -> str:
        return self._modules.path(node) or ""


def device_argument(call: ast.Call) -> ast.expr | None:
    """What a call of `to` or `type` says of the device: its first argument, or the keyword."""
    named = next((keyword.value for keyword in call.keywords if keyword.arg in ("device", "other")), None)
    return named if named is not None else call.args[0] if call.args else None


def starts_with_cuda(node: ast.AST) -> bool:
    """Whether a text that is put together begins with "cuda"."""
    if isinstance(node, ast.JoinedStr):
        node = node.values[0] if node.values else node
    elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add | ast.Mod):
        node = node.left
    return isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value.startswith("cuda:")


def asks_for_cuda(test: ast.AST) -> bool:
    """Whether a condition holds only where there is a GPU."""
    if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And):
        return any(asks_for_cuda(part) for part in test.values)
    return isinstance(test, ast.Call) and isinstance(test.func, ast.Attribute) and test.func.attr == "is_available"
