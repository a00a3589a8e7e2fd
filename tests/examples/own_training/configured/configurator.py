import sys
from ast import literal_eval

for argument in sys.argv[1:]:
    if "=" not in argument:
        print(f"Overriding config with {argument}:")
        exec(open(argument).read())
    else:
        key, value = argument.removeprefix("--").split("=")
        globals()[key] = literal_eval(value)
