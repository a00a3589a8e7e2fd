"""Programs that a visitor may send, against the files, the network, the recorder and the resources of a worker."""

import os
from pathlib import Path

import torch

LIBRARY = f"{Path(torch.__file__).parent}/lib/libaoti_custom_ops.so"
OPENAT = 257 if os.uname().machine == "x86_64" else 56

# Each program begins on a line that imports torch and binds SECRET, a file that all may read; PLACE, a directory that
# all may write to, with SECRET and a file in it of whose name the program knows nothing; PORT, which listens for TCP and
# UDP; ABSTRACT and PATH, Unix sockets; TOKEN, seconds that nobody else sleeps. `load` imports any module. N is the number of the attack's first step.

READS = {
    "torch.os": "print(torch.os.read(torch.os.open(SECRET, 0), 99))",
    "torch.os, a listing": "print(torch.os.listdir(PLACE))",
    "torch.os, imported": "from torch import os\nprint(list(os.scandir(PLACE)))",
    "torch.sys.modules": "p = torch.sys.modules['posix']\nprint(p.read(p.open(SECRET, 0), 99))",
    "a shell": "print(torch.os.popen('cat ' + SECRET).read())",
    "the import of builtins": "print(vars(torch.builtins)['__imp' 'ort__']('os').listdir(PLACE))",
    "a module of its own": "loader = torch.importlib.machinery.SourceFileLoader('late', PLACE + '/late.py')\nprint(loader.load_module().WORD)",
    "os of numpy": "import numpy as np\nprint(np.lib._npyio_impl.os.listdir(PLACE))",
    "builtins of dataclasses": "import dataclasses\nprint(dataclasses.builtins.open(SECRET).read())",
    "builtins of enum": "import enum\nprint(enum.bltns.open(SECRET).read())",
    "builtins of numpy": "import numpy as np\nprint(np.ma.core.builtins.open(SECRET).read())",
    "codecs of json": "from json import codecs\nprint(codecs.open(SECRET).read())",
    "linecache of traceback": "import traceback\nprint(traceback.linecache.getlines(SECRET))",
    "a line of a traceback": "import traceback\nprint(traceback.FrameSummary(SECRET, 1, 'f').line)",
    "a line of a warning": "import warnings\nprint(warnings.formatwarning('x', UserWarning, SECRET, 1))",
    "code that says it lies there": """
import traceback, types
def f():
    raise ValueError
try: types.FunctionType(f.__code__.replace(co_filename=SECRET, co_firstlineno=0), {'ValueError': ValueError})()
except ValueError: print(traceback.format_exc())""",
    "argparse.FileType": "import argparse\nprint(argparse.FileType()(SECRET).read())",
    "arguments from a file": """
import argparse
try: argparse.ArgumentParser(fromfile_prefix_chars='@').parse_args(['@' + SECRET])
except SystemExit: pass""",
    "logging's configuration": """
import logging.config
try: logging.config.fileConfig(SECRET)
except Exception as error: print(error, error.__cause__, error.__context__)""",
    "contextlib.chdir": "import contextlib\nwith contextlib.chdir(PLACE): print(torch.os.listdir('.'))",
    "numpy.fromfile": "import numpy as np\nprint(getattr(np, 'fromfile')(SECRET, dtype='uint8').tobytes())",
    "numpy.rec.fromfile": "import numpy as np\nprint(np.rec.fromfile(SECRET, formats='S22', shape=1))",
    "fromfile of numpy's core": "import numpy as np\nprint(np._core.multiarray.fromfile(SECRET, 'S22', 1))",
    "numpy.memmap": "import numpy as np\nprint(getattr(np, 'mem' 'map')(SECRET, mode='r').tobytes())",
    "numpy.load": "import numpy as np\nprint(getattr(np, ''.join(['lo', 'ad']))(PLACE + '/array.npy'))",
    "numpy.genfromtxt": "import numpy as np\nprint(vars(np)['genfromtxt'](SECRET, dtype=str))",
    "numpy.loadtxt": "import operator, numpy as np\nprint(operator.attrgetter('loadtxt')(np)(SECRET, dtype=str))",
    "numpy.lib.format": "import numpy as np\nprint(np.lib.format.open_memmap(PLACE + '/array.npy', 'r'))",
    "numpy.lib.npyio": "import numpy as np\nprint(np.lib.npyio.DataSource(PLACE).open(SECRET).read())",
    "numpy.ctypeslib": "import numpy as np\nc = getattr(np, 'ctypes' 'lib').ctypes\nl = c.CDLL(None)\nb = c.create_string_buffer(99)\nl.read(l.open(SECRET.encode(), 0), b, 99)\nprint(b.value)",
    "ctypes of torch": "c = torch._ops.ctypes\nl = c.CDLL(None)\nl.fopen.restype = c.c_void_p\nf = l.fopen(SECRET.encode(), b'r')\nif f:\n    b = c.create_string_buffer(99)\n    l.fread(b, 1, 99, c.c_void_p(f))\n    print(b.value)",
    "a system call": "c = torch._ops.ctypes\nl = c.CDLL(None)\nb = c.create_string_buffer(99)\nl.read(l.syscall(OPENAT, -100, SECRET.encode(), 0), b, 99)\nprint(b.value)",
    "torch.load": "print(getattr(torch, 'load')(PLACE + '/tensor.pt', weights_only=False))",
    "torch.serialization": "from torch.serialization import load\nprint(load(PLACE + '/tensor.pt', weights_only=False))",
    "torch.jit.load": "files = {'word': ''}\ntorch.jit.load(PLACE + '/script.pt', _extra_files=files)\nprint(files)",
    "torch._C.PyTorchFileReader": "print(torch._C.PyTorchFileReader(PLACE + '/tensor.pt').get_record('data.pkl'))",
    "torch.from_file": "print(bytes(torch._C._VariableFunctions.from_file(SECRET, size=22, dtype=torch.uint8).tolist()))",
    "a storage from a file": "print(bytes(torch.UntypedStorage.from_file(SECRET, False, 22).tolist()))",
    "a storage from a descriptor": "s = torch.UntypedStorage(8)\nf = torch.os.open(SECRET, 0)\nprint(torch.os.pread(f, 99, 0))",
    "torch.hub": "print(load('torch.hub').urlopen('file://' + SECRET).read())",
    "torch.utils.collect_env": "import torch.utils.collect_env as e\nprint(e.run('cat ' + SECRET))",
    "torch.utils.cpp_extension": "print(load('torch.utils.cpp_extension').subprocess.check_output(['cat', SECRET]))",
    "torch.utils.data": "from torch.utils.data.datapipes.iter import FileLister\nprint(list(FileLister(PLACE)))",
    "a loader of modules": "print(getattr(torch, '__lo' 'ader__').get_data(SECRET))",
    "importlib of torch": "print(torch.importlib.util.spec_from_file_location('x', SECRET + '.py').loader.get_data(SECRET))",
    "subclasses of object": """
for c in getattr(().__class__.__mro__[1], '__subcl' + 'asses__')():
    if c.__name__ == '_wrap_close': print(getattr(c.__init__, '__glo' 'bals__')['popen']('cat ' + SECRET).read())""",
    "subclasses by type's dict": """
for c in type.__dict__['__subcl' 'asses__'](object):
    if c.__name__ == '_wrap_close': print(vars(torch.sys.modules[c.__module__])['listdir'](PLACE))""",
    "subclasses by operator": """
import operator
for c in operator.methodcaller('__sub' 'classes__')(object):
    if c.__name__ == '_wrap_close': print(operator.attrgetter('__init__.__glo' 'bals__')(c)['listdir'](PLACE))""",
    "subclasses by a pattern": """
match object:
    case type(__subclasses__=found): pass
for c in found():
    match c:
        case type(__name__='_wrap_close', __init__=object(__globals__=names)): print(names['listdir'](PLACE))""",
    "subclasses by other byte code": """
import types
code = (lambda c: c.mro()).__code__
names = tuple('__subclasses__' if name == 'mro' else name for name in code.co_names)
for c in types.FunctionType(code.replace(co_names=names), globals())(object):
    if c.__name__ == '_wrap_close': print(torch.sys.modules[c.__module__].listdir(PLACE))""",
    "str.format finds it": """
import string
os = string.Formatter().get_field('0.__init__.__globals__[torch].os', (torch.nn.Module,), {})[0]
print(os.listdir(PLACE))""",
    "functools.reduce": "import functools\nprint(functools.reduce(getattr, ['sys', 'modules'], torch)['os'].listdir(PLACE))",
    "a generator's frame": "g = (k for k in (1,))\nprint(getattr(g, 'gi_fr' 'ame').f_code, getattr(getattr(g, 'gi_' 'frame'), 'f_' 'builtins')['open'](SECRET).read())",
    "a coroutine's frame": "async def f(): pass\nc = f()\nprint(getattr(getattr(c, 'cr_' 'frame'), 'f_' 'builtins')['open'](SECRET).read())\nc.close()",
    "a traceback's frame": """
try: 1 / 0
except ZeroDivisionError as error: print(getattr(getattr(error.__traceback__, 'tb_' 'frame'), 'f_' 'builtins')['open'](SECRET).read())""",
    "the stack by traceback": "import traceback\nfor f, _ in traceback.walk_stack(None): print(getattr(f, 'f_' 'builtins')['open'](SECRET).read())",
    "the stack by logging": "import logging\nprint(getattr(logging.currentframe(), 'f_' 'builtins')['open'](SECRET).read())",
    "the stack by inspect": """
import inspect
try: 1 / 0
except ZeroDivisionError: print(getattr(inspect.trace()[0].frame, 'f_' 'builtins')['open'](SECRET).read())""",
    "the stack by sys": "import sys\nprint(getattr(getattr(sys, '_get' 'frame')(0), 'f_' 'builtins')['open'](SECRET).read())",
    "frames of all threads": "import sys\nprint([getattr(f, 'f_' 'builtins')['open'](SECRET).read() for f in sys._current_frames().values()])",
    "gc.get_referents": "import gc\nfor d in gc.get_referents(torch.nn.Module.__init__):\n    if type(d) is dict and 'torch' in d: print(d['torch'].os.listdir(PLACE))",
    "gc.get_objects": "import gc\ngc.unfreeze()\nprint([d['listdir'](PLACE) for d in getattr(gc, 'get_' 'objects')() if type(d) is dict and 'listdir' in d and 'getuid' in d])",
    "hints that are evaluated": "import typing\nclass C:\n    x: 'print(torch.os.listdir(PLACE))'\ntry: typing.get_type_hints(C)\nexcept TypeError: pass",
    "a reference that is evaluated": "import typing\ntyping.get_type_hints(type('C', (), {'__annotations__': {'x': typing.ForwardRef('[int, print(torch.os.listdir(PLACE))][0]')}}), globals())",
    "a signature that is evaluated": "import inspect\ndef f(x: 'print(torch.os.listdir(PLACE))'): pass\ninspect.signature(f, eval_str=True)",
    "a pickle": "torch.serialization.pickle.loads(b'cbuiltins\\neval\\n(S\\'print(open(\"' + SECRET.encode() + b'\").read())\\'\\ntR.')",
    "a pickle that torch loads": r"""
t = f'print(open({SECRET!r}).read())'.encode()
b = torch.serialization.io.BytesIO(b'\x80\x02cbuiltins\neval\nX' + len(t).to_bytes(4, 'little') + t + b'\x85R.')
getattr(torch, 'load')(b, weights_only=False)""",
    "copy of what reduces itself": "import copy\nclass C:\n    def __reduce_ex__(self, _): return torch.os.popen, ('cat ' + SECRET,)\nprint(copy.copy(C()).read())",
    "copyreg": "import copy\nclass C: pass\nload('copyreg').pickle(C, lambda c: (torch.os.listdir, (PLACE,)))\nprint(copy.copy(C()))",
    "a generic function": "import functools\n@functools.singledispatch\ndef f(x): pass\ntry:\n    @f.register\n    def g(x: 'print(torch.os.listdir(PLACE))'): pass\nexcept TypeError: pass",
    "a decorator": "@lambda f: torch.os.listdir(PLACE)\ndef x(): pass\nprint(x)",
    "a descriptor": "class D:\n    def __get__(self, *_): return torch.os.listdir(PLACE)\nclass C:\n    x = D()\nprint(C.x)",
    "a metaclass": "class M(type):\n    def __getattr__(cls, name): return getattr(torch.os, name)\nclass C(metaclass=M): pass\nprint(C.listdir(PLACE))",
    "a hook in backward": "x = torch.ones(1, requires_grad=True)\nx.register_hook(lambda g: print(torch.os.listdir(PLACE)))\nx.sum().backward()",
    "a destructor": "class C:\n    def __del__(self): print(torch.os.listdir(PLACE))\nc = C()\ndel c",
}
WRITES = {
    "torch.os": "torch.os.close(torch.os.open(PLACE + '/written', 0o102))",
    "torch.os, elsewhere": "torch.os.close(torch.os.open('/dev/shm/' + TOKEN, 0o102))",
    "a mode": "torch.os.chmod(SECRET, 0o600)",
    "a name": "torch.os.rename(SECRET, SECRET + '2')",
    "a link": "torch.os.symlink('/etc/passwd', PLACE + '/link')",
    "a fifo": "torch.os.mkfifo(PLACE + '/fifo')",
    "its end": "torch.os.remove(SECRET)",
    "torch.save": "getattr(torch, 'save')(torch.ones(2), PLACE + '/saved.pt')",
    "torch.serialization": "from torch.serialization import save\nsave(torch.ones(2), PLACE + '/saved.pt')",
    "torch.jit.save": "torch.jit.save(torch.jit.script(torch.nn.ReLU()), PLACE + '/x.pt')",
    "torch._C.PyTorchFileWriter": "w = torch._C.PyTorchFileWriter(PLACE + '/w')\nw.write_end_of_file()",
    "torch.package": "load('torch.package').PackageExporter(PLACE + '/package').close()",
    "a shared storage": "torch.UntypedStorage.from_file(PLACE + '/mapped', True, 64)",
    "torch.fx": "torch.fx.symbolic_trace(torch.nn.ReLU()).to_folder(PLACE + '/folder')",
    "torch.profiler": "with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU]) as p: torch.ones(2)\np.export_chrome_trace(PLACE + '/trace.json')",
    "torch.utils.file_baton": "import torch.utils.file_baton as b\nb.FileBaton(PLACE + '/lock').try_acquire()",
    "torch.utils.data": "from torch.utils.data.datapipes.iter import FileLister\ntorch.utils.data.datapipes.utils.common.os.mkdir(PLACE + '/made')",
    "torch.utils.cpp_extension": "load('torch.utils.cpp_extension').subprocess.run(['touch', PLACE + '/touched'])",
    "ndarray.tofile": "import numpy as np\ngetattr(np.ones(3), 'to' 'file')(PLACE + '/x')",
    "ndarray.dump": "import numpy as np\nnp.ones(3).dump(PLACE + '/x')",
    "numpy.save": "import numpy as np\ngetattr(np, 'sa' 've')(PLACE + '/x', np.ones(3))",
    "numpy.savetxt": "import numpy as np\nvars(np)['savetxt'](PLACE + '/x', np.ones(3))",
    "numpy.lib.format": "import numpy as np\nnp.lib.format.open_memmap(PLACE + '/x', 'w+', shape=(3,))",
    "argparse.FileType": "import argparse\nargparse.FileType('w')(PLACE + '/x')",
    "logging.FileHandler": "import logging\nlogging.FileHandler(PLACE + '/log')",
    "logging.basicConfig": "import logging\nlogging.basicConfig(filename=PLACE + '/log', force=True)\nlogging.warning('x')",
    "logging's configuration": "import logging.config\nlogging.config.dictConfig({'version': 1, 'handlers': {'x': {'class': 'logging.FileHandler', 'filename': PLACE + '/log'}}})",
    "logging's factories": "import logging.config\nlogging.config.dictConfig({'version': 1, 'formatters': {'x': {'()': 'os.mkdir', 'path': PLACE + '/made'}}})",
    "logging.handlers": "import logging.handlers\nlogging.handlers.RotatingFileHandler(PLACE + '/log')",
    "timeit": "import timeit\ntimeit.timeit('import os; os.mkdir(' + repr(PLACE + '/timed') + ')', number=1)",
    "numpy.testing": "import numpy.testing as t\nt.runstring('import os; os.mkdir(' + repr(PLACE + '/run') + ')', {})",
    "a graph's source": "from torch.fx.graph_module import _exec_with_source\n_exec_with_source('import os; os.mkdir(' + repr(PLACE + '/graph') + ')', {})",
    "a pickle": "torch.serialization.pickle.loads(b'cposix\\nmkdir\\n(V' + PLACE.encode() + b'/pickled\\ntR.')",
    "a dump of tracebacks": "load('faulthandler').dump_traceback(torch.os.open(PLACE + '/dump', 0o102))",
}  # fmt: skip
CONNECTS = {
    "TCP": "load('socket').create_connection(('127.0.0.1', PORT), 1)",
    "UDP": "s = load('socket')\ns.socket(s.AF_INET, s.SOCK_DGRAM).sendto(b'x', ('127.0.0.1', PORT))",
    "an abstract Unix socket": "s = load('socket')\ns.socket(s.AF_UNIX).connect(ABSTRACT)",
    "a Unix socket": "s = load('socket')\ns.socket(s.AF_UNIX).connect(PATH)",
    "a system call": "c = torch._ops.ctypes\nl = c.CDLL(None)\nl.connect(l.socket(2, 1, 0), b'\\x02\\0' + PORT.to_bytes(2, 'big') + bytes([127, 0, 0, 1]) + bytes(8), 16)",
    "torch.hub": "load('torch.hub').download_url_to_file(f'http://127.0.0.1:{PORT}/x', PLACE + '/x')",
    "torch.distributed": "import datetime\nload('torch.distributed').TCPStore('127.0.0.1', PORT, is_master=False, wait_for_workers=False, timeout=datetime.timedelta(seconds=1))",
    "numpy.lib.npyio": "import numpy as np\nnp.lib.npyio.DataSource(PLACE).exists(f'http://127.0.0.1:{PORT}/x')",
    "logging's SocketHandler": "import logging.handlers\nlogging.handlers.SocketHandler('127.0.0.1', PORT).emit(logging.makeLogRecord({}))",
    "logging's SysLogHandler": "import logging.handlers\nlogging.handlers.SysLogHandler(('127.0.0.1', PORT)).emit(logging.makeLogRecord({}))",
    "logging's HTTPHandler": "import logging.handlers\nlogging.handlers.HTTPHandler(f'127.0.0.1:{PORT}', '/').emit(logging.makeLogRecord({}))",
    "logging's DatagramHandler": "import logging.handlers\nlogging.handlers.DatagramHandler('127.0.0.1', PORT).emit(logging.makeLogRecord({}))",
    "urllib": "torch.sys.modules['urllib.request'].urlopen(f'http://127.0.0.1:{PORT}/x', timeout=1)",
    "multiprocessing": "load('multiprocessing.connection').Client(('127.0.0.1', PORT))",
}  # fmt: skip
STARTS = {
    "fork": "if torch.os.fork() == 0:\n    torch.os.setsid()\n    torch.os.execv('/bin/sleep', ['sleep', TOKEN])\nimport time\ntime.sleep(0.2)",
    "fork, and again": "if torch.os.fork() == 0:\n    torch.os.setsid()\n    if torch.os.fork() == 0:\n        load('time').sleep(20)\n    torch.os._exit(0)\nimport time\ntime.sleep(0.2)",
    "posix_spawn": "torch.os.posix_spawn('/bin/sleep', ['sleep', TOKEN], {}, setsid=True)\nload('time').sleep(0.2)",
    "subprocess": "load('subprocess').Popen(['/bin/sleep', TOKEN], start_new_session=True)\nload('time').sleep(0.2)",
    "a shell": "torch.os.system('setsid sleep ' + TOKEN + ' &')\nload('time').sleep(0.2)",
    "ctypes": "if torch._ops.ctypes.CDLL(None).fork() == 0:\n    torch.os.setsid()\n    torch.os.execv('/bin/sleep', ['sleep', TOKEN])\nimport time\ntime.sleep(0.2)",
}  # fmt: skip
DOES = {
    "torch.ops.load_library": "torch.ops.load_library(LIBRARY)\nprint('done')",
    "torch.classes.load_library": "torch.classes.load_library(LIBRARY)\nprint('done')",
    "a library by ctypes": "torch._ops.ctypes.CDLL(LIBRARY)\nprint('done')",
    "share_memory_": "getattr(torch.ones(3), 'share_' 'memory_')()\nprint('done')",
    "multiprocessing": "p = load('multiprocessing').get_context('fork').Process(target=int)\np.start()\np.join()\nprint('done')",
    "memory as a file": "torch.os.memfd_create('x')\nprint('done')",
    "the parent, by a signal": "torch.os.kill(torch.os.getppid(), 0)\nprint('done')",
    "the parent, by a descriptor": "torch.os.pidfd_open(torch.os.getppid())\nprint('done')",
    "the parent, by its limits": "load('resource').prlimit(torch.os.getppid(), 7)\nprint('done')",
    "a limit of its own": "r = load('resource')\nr.setrlimit(r.RLIMIT_NPROC, r.getrlimit(r.RLIMIT_NPROC))\nprint('done')",
    "its priority": "torch.os.nice(1)\nprint('done')",
    "its group": "torch.os.getpgid(torch.os.getppid())\nprint('done')",
    "the processes of the machine": "if len(torch.os.listdir('/proc')) > 3: print('done')",
    "what the machine mounts": "if torch.os.statvfs('/').f_bsize: print('done')",
}  # fmt: skip
KILLS = {"the parent": "torch.os.kill(torch.os.getppid(), 9)\nimport time\ntime.sleep(5)"}
REACHING = {"reads": READS, "writes": WRITES, "connects": CONNECTS, "starts": STARTS, "does": DOES, "kills": KILLS}
"""What comes of the attacks where nothing holds them."""
RECORDER = {
    "hooks that do nothing": "v = vars(torch.builtins)\nv.update({' step': id, ' call': id, ' loop': id, ' caught': dict, ' lambda': bool})\nx = torch.ones(2)",
    "no hooks": "for name in list(vars(torch.builtins)):\n    if name[0] == ' ': del vars(torch.builtins)[name]\nx = 1",
    "hooks, called": "v = vars(torch.builtins)\nfor name in list(v):\n    if name[0] == ' ':\n        for a in ((), (0,), (-1,), (99999,), (0, 1), ('x',), (None,) * 9):\n            try: v[name](*a)\n            except Exception as error: print(error)",
    "a hook that calls itself": "v = vars(torch.builtins)\nstep = v[' step']\nv[' step'] = lambda i: [step(i) for _ in range(9)]\nx = 1\ny = 2",
    "no builtins": "vars(torch.builtins).clear()\nx = 1",
    "other builtins": "b = torch.builtins\nb.id = b.type = b.len = b.isinstance = lambda *a: 0\nx = torch.ones(2)\ny = [x]",
    "settrace": "seen = []\ngetattr(torch.sys, 'settrace')(lambda *a: seen.append(a[1]))\nx = torch.ones(2)\nprint(len(seen))",
    "setprofile that raises": "def f(*a): raise ValueError\ngetattr(torch.sys, 'setprofile')(f)\nx = 1\ny = 2",
    "the run itself": """
import traceback
for f, _ in traceback.walk_stack(None):
    run = getattr(f, 'f_lo' 'cals').get('self')
    if hasattr(run, '_end_process'):
        run._limits.clear()
        run._end_process({'status': 'finished', 'error': {'type': 'x', 'message': '<script>', 'line': -1}})""",
    "the run, without limits": """
import traceback
for f, _ in traceback.walk_stack(None):
    run = getattr(f, 'f_lo' 'cals').get('self')
    if hasattr(run, '_limits'): run._limits.update(dict.fromkeys(run._limits, 10**12))
x = [torch.ones(200) + k for k in range(12_000)]
y = 'x' * 2_000_000
print(y)
for k in range(3000): z = torch.ones(2) * k""",
    "the classes of the recorder": "m = torch.sys.modules\nfor name in list(m):\n    if name.startswith(('server.worker', 'gradbox.')):\n        for k, v in list(vars(m[name]).items()):\n            if isinstance(v, type): setattr(m[name], k, None)\nx = torch.ones(2)\ny = x + 1",
    "the encoder": "m = torch.sys.modules['server.worker.program_run']\nm.encode_json_line = lambda value: b'{}' * 100 + b'\\n'\nx = 1",
    "the end": "m = torch.sys.modules['server.worker.program_run']\nm.os._exit = lambda code: None\nx = 1",
    "the end, which never comes": "def f(*a):\n    while True: pass\ntorch.os._exit = f\nx = 1",
    "no modules": "torch.sys.modules.clear()\nx = torch.ones(2)\nx + 1",
    "other modules": "import json, sys\nfor name in ('json', 'os', 'traceback', 'numpy', '__main__'): torch.sys.modules[name] = None\nx = torch.ones(2)",
    "json": "import json\njson.dumps = json.loads = lambda *a, **k: '{'\nx = float('nan')\ny = '\\ud800'",
    "torch's functions": "torch.is_grad_enabled = torch.Tensor.data_ptr = torch.Tensor.untyped_storage = torch._C.DisableTorchFunction = None\nx = torch.ones(2)\nx + 1",
    "sys": "import sys\nsys.exc_info = sys.getrecursionlimit = sys.setrecursionlimit = None\nx = torch.ones(2)\ntry: 1 / 0\nexcept ZeroDivisionError: y = 1",
    "frames": "setattr(torch.sys, '_get' 'frame', lambda *a: None)\nx = 1\ny = 2",
    "the clock": "import time\ntime.perf_counter = time.process_time = lambda: 'x'\nx = 1",
    "the standard output": "import sys\nsys.stdout = sys.stderr = None\nprint('x')\nx = 1",
    "a stream's method": "import sys\ntype(sys.stdout).write = None\nx = 1\nprint(x)",
    "destructors that raise": "class C:\n    def __del__(self): raise SystemExit\nfor _ in range(50): c = C()\nx = [C()]\nx.append(x)",
    "a destructor at the end": "import weakref\nclass C:\n    def __del__(self): torch.os.write(4, b'{\"step\":1}')\nc = C()\nweakref.finalize(c, torch.os.write, 4, b'x')\nload('atexit').register(torch.os.write, 4, b'x')",
    "a thread that goes on": "import time\ntorch.threading.Thread(target=time.sleep, args=(60,)).start()",
    "a thread that records": "def f():\n    for k in range(10**9): x = torch.ones(k % 7)\nt = torch.threading.Thread(target=f)\nt.start()\nfor k in range(30): y = torch.ones(2)",
    "SIGKILL": "load('signal').raise_signal(9)",
    "SIGKILL, at a line that is not there": """(torch.os.write(4, b'File "<program>", line 9999999'), load('signal').raise_signal(9))""",
    "SIGSEGV": "load('signal').raise_signal(11)",
    "SIGABRT": "torch.os.abort()",
    "SIGSTOP": "load('signal').raise_signal(19)",
    "SIGXCPU": "load('signal').raise_signal(24)",
    "a deaf sleep": "s = load('signal')\nfor n in range(1, 65):\n    try: s.signal(n, s.SIG_IGN)\n    except (OSError, ValueError): pass\ns.pthread_sigmask(s.SIG_BLOCK, range(1, 65))\nload('time').sleep(60)",
    "an exit": "torch.os._exit(0)",
    "SystemExit": "raise SystemExit({'a': 1})",
    "KeyboardInterrupt": "raise KeyboardInterrupt",
    "an exception that can't be told": "class E(BaseException):\n    def __str__(self): raise self\n    def __getattribute__(self, name): raise self\n    __repr__ = __class__ = __str__\nraise E",
    "an exception that never tells": "class E(Exception):\n    def __str__(self):\n        while True: pass\nraise E",
    "no pipe": "torch.os.close(4)\nx = 1",
    "another pipe": "torch.os.close(4)\ntorch.os.dup(0)\nx = 1",
    "the job's pipe": "torch.os.write(3, b'x')",
    "a pipe of packets": "f = load('fcntl')\nf.fcntl(4, f.F_SETFL, 0o40000)\nfor k in range(3000): torch.os.write(4, b'x')",
    "a pipe that does not wait": "f = load('fcntl')\nf.fcntl(4, f.F_SETFL, 0o4000)\nx = torch.arange(1000.)\nfor k in range(200): x = x + 1",
    "a flood": "while True: torch.os.write(4, bytes(60000))",
    "a flood of lines": "while True: torch.os.write(4, b'\\n' * 60000)",
    "a flood of steps": "step = 1\nwhile True:\n    torch.os.write(4, b'{\"step\":{\"i\":%d,\"kind\":\"statement\",\"line\":1}}\\n' % step)\n    step += 1",
    "a tensor for the pipe": "torch.ones(99999).untyped_storage()._write_file(4, True, True, 4)",
    "attributes that lie": "class T(torch.Tensor):\n    shape = dtype = device = is_leaf = property(lambda s: torch.os._exit(3))\nx = torch.ones(2).as_subclass(T)",
    "classes that lie": "class M(type):\n    __instancecheck__ = __subclasscheck__ = lambda *a: 1 / 0\n    __eq__ = lambda *a: 1 / 0\n    __hash__ = lambda s: 1\n    __name__ = property(lambda s: 1 / 0)\nclass C(metaclass=M):\n    __class__ = property(lambda s: 1 / 0)\n    __dict__ = property(lambda s: 1 / 0)\nc = C()\nd = [c, C]",
    "containers that lie": "class L(list):\n    __len__ = __iter__ = __getitem__ = lambda *a: 1 / 0\nclass D(dict):\n    items = keys = values = __iter__ = __len__ = lambda *a: 1 / 0\nx, y = L([1, 2]), D(a=1)\nx.append(y)",
    "a function of torch that lies": "class T(torch.Tensor):\n    @classmethod\n    def __torch_function__(cls, f, types, args=(), kwargs=None): raise SystemExit\nx = torch.ones(2).as_subclass(T)\ny = [x]",
    "names that are long": "globals()['x' * 10**6] = 1\ny = 2",
    "names that are markup": "globals()['</script><script>alert(1)</script>'] = '<img src=x onerror=alert(1)>'\nprint('</script>')\ny = 2",
    "a tower of lists": "x = []\nfor k in range(1000): x = [x]\nfor k in range(10): x = [x, x]\ny = 1",
    "a number of a million digits": "torch.sys.set_int_max_str_digits(0)\nx = 1 << 3_000_000\ny = x\nprint(2)",
    "audit": "def f(*a): raise RuntimeError\ntorch.sys.addaudithook(f)\nx = torch.ones(2)\ny = x + 1",
    "the collector": "import gc\ngc.callbacks.append(lambda *a: 1 / 0)\ngc.set_threshold(1)\nx = [torch.ones(2) for _ in range(99)]\ngc.collect()",
    "the compiler": "x = getattr(torch, 'comp' 'ile')(torch.sin)(torch.ones(2))",
    "a kernel of its own": "l = torch.library.Library('aten', 'IMPL')\nl.impl('add.Tensor', lambda *a: torch.os._exit(5), 'CPU')\nx = torch.ones(2) + 1",
    "torch's own kernels": "torch._C._dispatch_tls_set_dispatch_key_included(torch._C._parse_dispatch_key('TESTING_ONLY_GenericMode'), False)\nx = torch.ones(2) + 1",
    "a mode that never ends": "from torch.utils._python_dispatch import TorchDispatchMode\nclass M(TorchDispatchMode):\n    def __torch_dispatch__(self, f, types, args=(), kwargs=None): raise SystemExit\nM().__enter__()\nx = 1\ny = 2",
}  # fmt: skip
"""What spoils its own picture, and only that."""
STEP = """b'{"step":{"i":%%d,"kind":"statement","line":1,' %% N + b'%s}}\\n'"""
END = """b'{"outcome":%s,"cost":{"wall_ms":0,"cpu_ms":0,"peak_bytes":0}}\\n'"""
LINES = {
    "an outcome": END % '{"status":"finished"}',
    "an outcome that only the parent knows": END % '{"status":"lost"}',
    "an outcome without its reason": END % '{"status":"stopped"}',
    "once more, somewhere": (END % '{"status":"finished"}').replace("}}", """},"again":{"-5":-7,"' + b'9' * 4000 + b'":3}}"""),
    "a line that is not there": """b'File "<program>", line 9999999\\n'""",
    "a fault": """b'{"fault":"x"}\\n'""",
    "a fault that is a tree": """b'{"fault":' + b'[' * 100_000 + b'\\n'""",
    "another header": """b'{"header":{}}\\n'""",
    "numbers that JSON has not": STEP % """"set":{"t1":{"quant":{"a":NaN,"b":-Infinity,"c":1e999}}}""",
    "a number of 4,300 digits": STEP % """"set":{"t1":{"quant":{"a":' + b'9' * 4300 + b'}}}""",
    "a number of a million digits": STEP % """"stmt":' + b'9' * 10**6 + b'""",
    "half of a character": STEP % r'"shown":"\\ud800"',
    "bytes that are no text": STEP % r'"shown":"\xff\xfe\xed\xa0\x80"',
    "nested deeply": STEP % """"set":{"t1":{"quant":{"a":' + b'[' * 190 + b']' * 190 + b'}}}""",
    "nested without end": STEP % """"value":' + b'[' * 900_000 + b'""",
    "the same key twice": STEP % """"set":{"t1":{"shape":[1]},"t1":{"shape":["<script>"]}}""",
}  # fmt: skip
"""What a program writes into its own trace."""
RESOURCES = {
    "memory": "x = []\nwhile True: x.append(bytearray(10**7))",
    "memory, caught": "x = []\ntry:\n    while True: x.append(torch.ones(10**6))\nexcept RuntimeError:\n    while True:\n        try: x.append([])\n        except MemoryError: pass",
    "threads": "t = torch.threading\ne = t.Event()\nfor _ in range(100_000): t.Thread(target=e.wait).start()",
    "threads that compute": "t = torch.threading\nfor _ in range(8): t.Thread(target=lambda: sum(range(10**12))).start()\nsum(range(10**12))",
    "processes": "for _ in range(500):\n    if torch.os.fork() == 0: load('time').sleep(60)",
    "descriptors": "for _ in range(100_000): torch.os.dup(0)",
    "recursion": "torch.sys.setrecursionlimit(10**9)\ndef f(): f()\nf()",
    "recursion in C": "import functools\nx = functools.reduce(lambda a, _: (a,), range(10**6), ())\nhash(x)",
    "a regular expression": "import re\nre.match('(a*)*b', 'a' * 99)",
    "a deaf loop": "s = load('signal')\ns.signal(24, s.SIG_IGN)\nwhile True: pass",
    "warnings": "import warnings\nwarnings.simplefilter('always')\nwhile True: warnings.warn('x' * 10**4)",
    "names": "for k in range(10**6): globals()['x%d' % k] = k",
}  # fmt: skip
FORGED = "(torch.os.write(4, {0}), torch.os.write(4, {1}), torch.os._exit(0))".format
"""Writes a line and an end in one statement: what is recorded of it comes too late."""
ATTACKS = {
    f"{group}: {name}": source
    for group, programs in {**REACHING, "recorder": RECORDER, "resources": RESOURCES}.items()
    for name, source in programs.items()
} | {f"lines: {name}": FORGED(line, END % '{"status":"finished"}') for name, line in LINES.items()}
HONEST = """
import random
import numpy as np
import torch
x = torch.rand(3, requires_grad=True)
y = (x * random.random()).sum() + float(np.random.rand())
y.backward()
print(x.grad, y.item(), torch.get_default_dtype(), torch.os.getcwd(), len(vars(torch.builtins)))
"""
"""What has the same trace at all times."""
