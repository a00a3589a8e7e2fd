"""Programs that try to get out of the confinement, and programs that have to work in it: see
tests.server.worker.attack_runner."""

import os

X86 = os.uname().machine == "x86_64"

# An attack has succeeded when it comes to its end. PARENT is the runner; NEIGHBOUR was confined in the same way, with
# the same user. PLACE is a directory that all may write to, and SECRET a file in it.

FILES = {
    "read a file": "assert open(SECRET).read() == 's3cr3t'",
    "read what everybody may": "open('/etc/passwd').read()",
    "write a file": "open(f'{PLACE}/written', 'w').write('x')",
    "append to a file": "open(SECRET, 'a').write('')",
    "list a directory": "assert os.listdir('/')",
    "scan a directory": "assert list(os.scandir(PLACE))",
    "stat a file": "os.stat(SECRET)",
    "stat beside a descriptor": "os.stat('etc', dir_fd=os.open('/', os.O_PATH))",
    "ask whether a file is there": "assert os.path.exists(SECRET)",
    "ask for access": "assert os.access(SECRET, os.R_OK)",
    "size of a file system": "os.statvfs('/')",
    "make a directory": "os.mkdir(f'{PLACE}/directory')",
    "make a symbolic link": "os.symlink('/etc/passwd', f'{PLACE}/symbolic')",
    "make a hard link": "os.link(SECRET, f'{PLACE}/hard')",
    "make a fifo": "os.mkfifo(f'{PLACE}/fifo')",
    "read a link": "os.readlink('/proc/self/exe')",
    "rename a file": "os.rename(OTHER, OTHER + '2'); os.rename(OTHER + '2', OTHER)",
    "remove a file": "os.remove(os.path.join(PLACE, 'doomed'))",
    "change a mode": "os.chmod(SECRET, 0o666)",
    "change a time": "os.utime(SECRET)",
    "cut a file": "os.truncate(OTHER, 0)",
    "read an attribute": "os.listxattr(SECRET)",
    "change the directory": "os.chdir(PLACE)",
    "open what a descriptor names": "open(f'/proc/self/fd/{KEPT}', 'w')",
    "write to shared memory's directory": "os.close(os.open('/dev/shm/gradbox', os.O_CREAT | os.O_RDWR)); os.remove('/dev/shm/gradbox')",
    "open a file without a name": "os.open(PLACE, os.O_TMPFILE | os.O_RDWR)",
    "open by path only": "os.open('/', os.O_PATH)",
    "openat2": "call('openat2', -100, SECRET.encode(), bytes(24), 24)",
    "memfd": "os.memfd_create('x')",
    "secret memory": "call('memfd_secret', 0)",
    "watch a file": "c('inotify_add_watch', c('inotify_init1', 0), SECRET.encode(), 2)",
    "handle of a file": "c('name_to_handle_at', -100, SECRET.encode(), (ctypes.c_int * 40)(128), ctypes.byref(ctypes.c_int()), 0)",
    "memory of the own process as a file": "open('/proc/self/mem', 'r+b')",
    "maps of the own process": "open('/proc/self/maps').read()",
    "a terminal": "os.openpty()",
    "tell which files there are": "assert error_of_opening(SECRET) != error_of_opening(SECRET + '.not')",
    "tell which processes there are": "assert error_of_opening(f'/proc/{PARENT}/stat') != error_of_opening('/proc/4194305/stat')",
    "chance, to spoil it": "open('/dev/urandom', 'wb')",
    "another device": "open('/dev/zero', 'rb').read(1)",
}

FILES_OF_ROOT = {
    "change the root": "os.chroot(PLACE)",
    "make a device": "os.mknod(f'{PLACE}/device', 0o20600, os.makedev(1, 1))",
    "give a file away": "os.chown(SECRET, 1, 1)",
    "read a password": "open('/etc/shadow').read()",
    "open a file system": "call('fsopen', b'tmpfs', 0)",
    "watch all files": "c('fanotify_init', 0, 0)",
}

LIBRARIES = {
    "torch.save": "torch.save({}, f'{PLACE}/saved.pt')",
    "torch.load": "torch.load(f'{PLACE}/tensor.pt')",
    "torch.from_file": "torch.from_file(SECRET, shared=False, size=1)",
    "torch.from_file, shared": "torch.from_file(f'{PLACE}/mapped', shared=True, size=4)",
    "share a tensor": "torch.ones(3).share_memory_()",
    "torch.ops.load_library": "torch.ops.load_library(LIBRARY)",
    "load a library": "ctypes.CDLL(LIBRARY)",
    "numpy.save": "numpy.save(f'{PLACE}/saved.npy', numpy.ones(3))",
    "numpy.load": "numpy.load(f'{PLACE}/array.npy')",
    "numpy.fromfile": "numpy.fromfile(SECRET, dtype='uint8')",
    "numpy.memmap": "numpy.memmap(f'{PLACE}/memmap', shape=3, mode='w+')",
    "import a late module": "sys.path.append(PLACE); import late",
    "a loader with workers": "list(torch.utils.data.DataLoader([1, 2], num_workers=1))",
    "a temporary file": "tempfile.TemporaryFile(dir=PLACE)",
    "torch.load, a pickle in memory that opens": """
class Opening: __reduce__ = lambda self: (open, (SECRET,))
b = io.BytesIO(); torch.save(Opening(), b); b.seek(0)
assert torch.load(b, weights_only=False).read() == 's3cr3t'""",
    "torch.load, a pickle in memory that runs": """
class Running: __reduce__ = lambda self: (os.system, ('true',))
b = io.BytesIO(); torch.save(Running(), b); b.seek(0)
assert torch.load(b, weights_only=False) == 0""",
    "torch.load, a pickle in memory of the old format": """
class Listing: __reduce__ = lambda self: (os.listdir, (PLACE,))
b = io.BytesIO(); torch.save(Listing(), b, _use_new_zipfile_serialization=False); b.seek(0)
assert torch.load(b, weights_only=False)""",
    "torch.load, mapped": "torch.load(f'{PLACE}/tensor.pt', mmap=True)",
    "read an archive": "torch._C.PyTorchFileReader(f'{PLACE}/tensor.pt')",
    "write an archive": "torch._C.PyTorchFileWriter(f'{PLACE}/written.pt').write_end_of_file()",
    "torch.jit, a function that reads": """
unit = torch.jit.CompilationUnit('def f(path: str):\\n    return torch.from_file(path, False, 6, dtype=torch.uint8)\\n')
assert bytes(unit.f(SECRET).tolist()) == b's3cr3t'""",
    "torch.jit, a function that writes": """
unit = torch.jit.CompilationUnit('def f(path: str):\\n    return torch.from_file(path, True, 6, dtype=torch.uint8)\\n')
unit.f(f'{PLACE}/mapped by a script').fill_(1)""",
    "torch.jit.save": """
unit = torch.jit.CompilationUnit('def f(x: int):\\n    return x\\n')
module = torch.jit.ScriptModule(); module.save(f'{PLACE}/script.pt')""",
    "torch.classes.load_library": "torch.classes.load_library(LIBRARY)",
    "cpp_extension, a compiler": "torch.utils.cpp_extension.subprocess.run(['true'], check=True)",
    "cpp_extension, a folder for what is built": """
os.environ['TORCH_EXTENSIONS_DIR'] = PLACE
torch.utils.cpp_extension._get_build_directory(f'built{os.getpid()}', False)""",
    "cpp_extension, a lock": "torch.utils.file_baton.FileBaton(f'{PLACE}/lock{os.getpid()}').try_acquire()",
    "a loader with workers by fork": "list(torch.utils.data.DataLoader([1, 2], num_workers=1, multiprocessing_context='fork'))",
    "a worker by fork": "p = torch.multiprocessing.get_context('fork').Process(target=int); p.start(); p.join()",
    "a worker by spawn": "os.waitpid(multiprocessing.util.spawnv_passfds(b'/bin/true', [b'true'], ()), 0)",
    "a queue between workers": "torch.multiprocessing.get_context('fork').Queue().put(1)",
    "memory between workers": "torch.UntypedStorage._new_shared(8)",
    "a tensor between workers, by a file": """
torch.multiprocessing.set_sharing_strategy('file_system')
torch.ones(3).share_memory_()""",
}

NETWORK = {
    "TCP": "socket.create_connection(('127.0.0.1', PORT))",
    "TCP over IPv6": "socket.socket(socket.AF_INET6)",
    "listen": "s = socket.socket(); s.bind(('127.0.0.1', 0)); s.listen()",
    "UDP": "socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b'x', ('127.0.0.1', PORT))",
    "a Unix socket with a path": "socket.socket(socket.AF_UNIX).connect(f'{PLACE}/socket')",
    "an abstract Unix socket": "socket.socket(socket.AF_UNIX).connect(ABSTRACT)",
    "a listening Unix socket": "s = socket.socket(socket.AF_UNIX); s.bind('\\0gradbox-attack'); s.listen()",
    "a pair of sockets": "socket.socketpair()",
    "netlink": "socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0)",
    "the kernel's crypto": "socket.socket(socket.AF_ALG, socket.SOCK_SEQPACKET)",
    "virtual sockets": "socket.socket(socket.AF_VSOCK)",
    "look a name up": "socket.getaddrinfo('localhost', 80)",
    "names of the interfaces": "assert socket.if_nameindex()",
    "asyncio": "asyncio.run(asyncio.sleep(0))",
    "the parent's listening socket": "socket.socket(fileno=os.dup(LISTENER)).getsockname()",
    "the parent's open file": "assert os.pread(OPEN, 6, 0) == b's3cr3t'",
    "any other descriptor of the parent": "assert any(is_open(fd) for fd in range(3, 1000) if fd != KEPT)",
    "events": "os.eventfd(0)",
    "epoll": "select.epoll()",
    "a pipe": "os.pipe()",
    "splice": "c('vmsplice', KEPT, (ctypes.c_long * 2)(0, 0), 1, 0)",
    "sendfile": "os.sendfile(1, OPEN, 0, 6)",
}

NETWORK_OF_ROOT = {
    "raw socket": "socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP)",
    "packet socket": "socket.socket(socket.AF_PACKET, socket.SOCK_RAW)",
}

PROCESSES = {
    "fork": "os.fork() or os._exit(0)",
    "clone": "call('clone', signal.SIGCHLD, 0, 0, 0, 0) or os._exit(0)",
    "clone beside the parent's children": "call('clone', 0x8000 | signal.SIGCHLD, 0, 0, 0, 0) or os._exit(0)",
    "clone3": "call('clone3', struct.pack('11Q', *[0] * 4, signal.SIGCHLD, *[0] * 6), 88) or os._exit(0)",
    "fork from a thread": "in_a_thread(lambda: os.fork() or os._exit(0))",
    "exec": "os.execv('/bin/sh', ['sh', '-c', f'echo succeeded >&{KEPT}'])",
    "subprocess": "subprocess.run(['/bin/true'], check=True)",
    "posix_spawn": "os.posix_spawn('/bin/true', ['true'], {})",
    "a shell": "assert os.system('exit 0') == 0",
    "multiprocessing": "multiprocessing.get_context('fork').Process(target=print).start()",
    "a pseudo-terminal's process": "os.forkpty()[0] or os._exit(0)",
    "a namespace of users": "c('unshare', 0x10000000)",
}

PROCESSES_OF_ROOT = {
    "a namespace of mounts": "c('unshare', 0x00020000)",
    "the namespace of the network": "c('setns', os.open('/proc/self/ns/net', os.O_RDONLY), 0)",
}

SIGNALS = {
    "signal the parent": "os.kill(PARENT, signal.SIGURG)",
    "signal all": "os.kill(-1, 0)",
    "signal the parent's group": "os.killpg(GROUP, 0)",
    "signal the own group": "os.kill(0, 0)",
    "signal a thread of the parent": "call('tgkill', PARENT, PARENT, signal.SIGURG)",
    "signal a thread by its number": "call('tkill', PARENT, signal.SIGURG)",
    "signal by a descriptor": "signal.pidfd_send_signal(os.pidfd_open(PARENT), 0)",
    "a descriptor of the parent": "call('pidfd_open', PARENT, 0)",
    "queue a signal": "call('rt_sigqueueinfo', PARENT, signal.SIGURG, struct.pack('4i', signal.SIGURG, 0, -1, 0) + bytes(112))",
    "queue a signal to a thread": "call('rt_tgsigqueueinfo', PARENT, PARENT, signal.SIGURG, struct.pack('4i', signal.SIGURG, 0, -1, 0) + bytes(112))",
    "own a descriptor's signals": "fcntl.fcntl(KEPT, 8, PARENT)",
    "choose a descriptor's signal": "fcntl.fcntl(KEPT, 10, signal.SIGURG)",
    "hear of a directory's changes": "fcntl.fcntl(os.open(PLACE, os.O_RDONLY), 1026, 2)",
    "lock a pipe": "fcntl.flock(KEPT, fcntl.LOCK_EX)",
    "widen a pipe": "fcntl.fcntl(KEPT, 1031, 1 << 18)",
}

OTHERS = {
    "trace the parent": "c('ptrace', 0x4206, PARENT, 0, 0)",
    "be traced": "c('ptrace', 0, 0, 0, 0)",
    "read the parent's memory": "assert vm('process_vm_readv', PARENT) == b's3cr3t'",
    "write the parent's memory": "vm('process_vm_writev', PARENT)",
    "the parent's memory as a file": "f = open(f'/proc/{PARENT}/mem', 'rb', 0); f.seek(ADDRESS); assert f.read(6) == b's3cr3t'",
    "the parent's environment": "assert b's3cr3t' in open(f'/proc/{PARENT}/environ', 'rb').read()",
    "the parent's command": "open(f'/proc/{PARENT}/cmdline').read()",
    "the parent's descriptors": "assert os.listdir(f'/proc/{PARENT}/fd')",
    "a descriptor out of the parent": "call('pidfd_getfd', os.pidfd_open(PARENT), LISTENER, 0)",
    "a descriptor out of the parent, number known": "call('pidfd_getfd', PIDFD, LISTENER, 0)",
    "compare with the parent": "call('kcmp', PARENT, PARENT, 1, 0, 0)",
    "the parent's list of locks": "call('get_robust_list', PARENT, ctypes.byref(ctypes.c_long()), ctypes.byref(ctypes.c_long()))",
    "the parent's limits": "resource.prlimit(PARENT, resource.RLIMIT_CPU)",
    "the parent's processors": "os.sched_getaffinity(PARENT)",
    "move the parent to a processor": "os.sched_setaffinity(PARENT, os.sched_getaffinity(PARENT))",
    "the parent's priority": "os.getpriority(os.PRIO_PROCESS, PARENT)",
    "make the parent nice": "os.setpriority(os.PRIO_PROCESS, PARENT, os.getpriority(os.PRIO_PROCESS, PARENT))",
    "schedule the parent": "os.sched_setscheduler(PARENT, os.SCHED_OTHER, os.sched_param(0))",
    "the parent's disk priority": "call('ioprio_set', 1, PARENT, 2 << 13 | 4)",
    "the parent's clock": "time.clock_gettime(~PARENT << 3 | 2)",
    "the parent's session": "os.getsid(PARENT)",
    "the parent's group": "os.getpgid(PARENT)",
    "the list of processes": "assert any(map(str.isdigit, os.listdir('/proc')))",
    "signal the neighbour": "os.kill(NEIGHBOUR, 0)",
    "signal a thread of the neighbour": "call('tgkill', NEIGHBOUR, NEIGHBOUR, 0)",
    "trace the neighbour": "c('ptrace', 0x4206, NEIGHBOUR, 0, 0)",
    "read the neighbour's memory": "assert vm('process_vm_readv', NEIGHBOUR) == b's3cr3t'",
    "the neighbour's memory as a file": "open(f'/proc/{NEIGHBOUR}/mem', 'rb')",
    "the neighbour's maps": "open(f'/proc/{NEIGHBOUR}/maps').read()",
    "the neighbour's command": "open(f'/proc/{NEIGHBOUR}/cmdline').read()",
    "the neighbour's descriptors": "os.listdir(f'/proc/{NEIGHBOUR}/fd')",
    "the neighbour's clock": "time.clock_gettime(~NEIGHBOUR << 3 | 2)",
    "the neighbour's limits": "resource.prlimit(NEIGHBOUR, resource.RLIMIT_CPU, (1, 1))",
    "System V shared memory": "c('shmctl', c('shmget', 0, 4096, 0o1666), 0, None)",
    "a System V semaphore": "c('semctl', c('semget', 0, 1, 0o1666), 0, 0)",
    "a System V queue": "c('msgctl', c('msgget', 0, 0o1666), 0, None)",
    "POSIX shared memory": "c('shm_open', b'/gradbox', os.O_CREAT | os.O_RDWR, 0o666); c('shm_unlink', b'/gradbox')",
    "a POSIX queue": "c('mq_open', b'/gradbox', os.O_CREAT | os.O_RDWR, 0o666, None); c('mq_unlink', b'/gradbox')",
    "a named semaphore": "multiprocessing.get_context('fork').Semaphore()",
    "a key for the neighbour": "call('add_key', b'user', b'gradbox', b'x', 1, -4)",
    "the user's keys": "call('keyctl', 0, -4, 0)",
}

OWN = {
    "the environment": "assert os.environ['SECRET'] == 's3cr3t'",
    "the environment of C": "assert libc.getenv(b'SECRET')",
    "the environment that /proc shows": "assert b's3cr3t' in open('/proc/self/environ', 'rb').read()",
    "be dumpable again": "c('prctl', 4, 1, 0, 0, 0)",
    "outlive the parent": "c('prctl', 1, 0, 0, 0, 0)",
    "raise the processor's limit": "resource.setrlimit(resource.RLIMIT_CPU, (60, resource.RLIM_INFINITY))",
    "raise the memory's limit": "resource.setrlimit(resource.RLIMIT_AS, (resource.RLIM_INFINITY,) * 2)",
    "raise the stack's limit": "resource.setrlimit(resource.RLIMIT_STACK, (resource.RLIM_INFINITY,) * 2)",
    "raise a limit by the old call": "call('setrlimit', resource.RLIMIT_AS, struct.pack('2Q', 2**64 - 1, 2**64 - 1))",
    "raise its own limit by number": "resource.prlimit(os.getpid(), resource.RLIMIT_AS, (resource.RLIM_INFINITY,) * 2)",
    "another personality": "c('personality', 0x0040000)",
    "execute what reads": "c('personality', 0x0400000)",
    "io_uring": "call('io_uring_setup', 8, bytes(256))",
    "userfaultfd": "call('userfaultfd', 1)",
    "count events": "call('perf_event_open', struct.pack('2IQ', 1, 112, 9) + bytes(24) + struct.pack('Q', 1 << 5 | 1 << 6) + bytes(56), 0, -1, -1, 0)",
    "a filter with a listener": "c('prctl', 38, 1, 0, 0, 0); call('seccomp', 1, 8, PASS)",
    "be scheduled as a batch": "os.sched_setscheduler(0, os.SCHED_BATCH, os.sched_param(0))",
    "pin itself to a processor": "os.sched_setaffinity(0, os.sched_getaffinity(0))",
    "a policy for memory": "call('set_mempolicy', 0, 0, 0)",
    "shared pages": "call('mmap', 0, 4096, 3, 0x21, -1, 0)",
    "shared pages, validated": "call('mmap', 0, 4096, 1, 3, OPEN, 0)",
    "pages merged with a neighbour's": "call('madvise', call('mmap', 0, 4096, 3, 0x22, -1, 0), 4096, 12)",
    "pages that grow like a stack": "call('mmap', 0, 4096, 3, 0x122, -1, 0)",
    "pages of the parent's file": "mmap.mmap(OPEN, 6, prot=mmap.PROT_READ)",
    "how much waits in a pipe": "fcntl.ioctl(KEPT, 0x541B, bytes(4))",
    "lock memory": "c('mlock', ADDRESS, 1)",
    "lock all memory": "c('mlockall', 6)",
    "a timer": "c('timer_create', 1, None, ctypes.byref(ctypes.c_long()))",
    "more descriptors": "[os.dup(KEPT) for _ in range(100)]",
    "many threads": "threading.stack_size(1 << 15); [threading.Thread(target=time.sleep, args=(9,), daemon=True).start() for _ in range(2000)]",
    "a thread with a big stack": "threading.stack_size(2 << 30); in_a_thread(lambda: None)",
    "reserve 100 GiB": "call('mmap', 0, 100 << 30, 0, 0x4022, -1, 0)",
}

OWN_OF_ROOT = {
    "become root": "os.setresuid(0, 0, 0); open('/etc/shadow').read()",
    "join a group": "os.setgroups([0])",
    "take capabilities": "c('capset', struct.pack('Ii', 0x20080522, 0), struct.pack('6I', 2, 2, 2, 0, 0, 0))",
    "load a BPF program": "call('bpf', 0, struct.pack('5I', 2, 4, 8, 1, 0) + bytes(100), 120)",
    "name the machine": "socket.sethostname(os.uname().nodename)",
    "read the kernel's log": "c('klogctl', 10, None, 0)",
    "advise the parent": "call('process_madvise', os.pidfd_open(PARENT), struct.pack('2Q', ADDRESS & -4096, 4096), 1, 20, 0)",
    "be scheduled first": "os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))",
}

# What nobody should try where nothing holds it, or what the kernel refuses anyway.
UNTRIED = {
    "push a character into the terminal": "fcntl.ioctl(0, 0x5412, b'x')",
    "vfork": "call('clone', 0x4100 | signal.SIGCHLD, 0, 0, 0, 0) or os._exit(0)",
    "huge pages": "call('mmap', 0, 2 << 20, 3, 0x40022, -1, 0)",
    "mount": "c('mount', b'none', PLACE.encode(), b'tmpfs', 0, None)",
    "what Ctrl-Alt-Del does": "c('reboot', 0)",
    "set the clock": "time.clock_settime(time.CLOCK_REALTIME, time.time())",
    "a thread in a namespace of its own": "call('clone', 0x3D0F00 | 0x10000000, 0, 0, 0, 0)",
    "a thread that ends with a signal": "call('clone', 0x3D0F00 | signal.SIGCHLD, 0, 0, 0, 0)",
    "new privileges": "c('prctl', 38, 0, 0, 0, 0)",
    "leave the filter": "c('prctl', 22, 0, 0, 0, 0)",
    "8 GiB of torch": "torch.ones(1 << 31)",
    "8 GiB of torch, empty": "torch.empty(1 << 31)",
    "8 GiB of Python": "bytearray(8 << 30)",
    "8 GiB in small pieces": "kept = [bytearray(1 << 16) for _ in range(1 << 17)]",
    "8 GiB of numpy": "numpy.ones(1 << 30)",
    "3 GiB of shared pages": "m = mmap.mmap(-1, 3 << 30); m[:: 4096] = b'x' * len(m[:: 4096])",
    "3 GiB of threads' memory": "in_a_thread(lambda: bytearray(3 << 30))",
    "grow the heap": "c('sbrk', 3 << 30)",
    "a list without end": "kept = []\nwhile True: kept.extend([0] * (1 << 20))",
}

if X86:
    # mov eax, NUMBER; int 0x80; ret: the 32-bit entry, where 20 is getpid
    OWN["a call of 32 bits"] = "assert machine_code(b'\\xb8\\x14\\0\\0\\0\\xcd\\x80\\xc3') == os.getpid()"
    UNTRIED["a call of x32"] = "NUMBERS['getpid'] = 0x40000027; call('getpid')"
    UNTRIED["a local descriptor table"] = "NUMBERS['modify_ldt'] = 154; call('modify_ldt', 0, bytes(16), 16)"
    OWN_OF_ROOT["ports of the machine"] = "NUMBERS['iopl'] = 172; call('iopl', 3)"

OF_ROOT = FILES_OF_ROOT | NETWORK_OF_ROOT | PROCESSES_OF_ROOT | OWN_OF_ROOT
"""What takes root, where nothing holds it."""

ATTACKS = FILES | LIBRARIES | NETWORK | PROCESSES | SIGNALS | OTHERS | OWN | OF_ROOT | UNTRIED

ENDS = {
    "abort": ("os.abort()", "died SIGABRT"),
    "read address 0": ("ctypes.string_at(0)", "died SIGSEGV"),
    "loop": ("while True: pass", "died SIGXCPU"),
    "loop in torch": ("x = torch.ones(900, 900)\nwhile True: x @ x", "died SIGXCPU"),
    "loop, deaf": ("signal.signal(signal.SIGXCPU, signal.SIG_IGN)\nwhile True: pass", "died SIGKILL"),
    "loop in threads": ("for _ in range(3): threading.Thread(target=loop).start()\nloop()", "died SIGXCPU"),
    "sleep": ("signal.signal(signal.SIGTERM, signal.SIG_IGN)\nwhile True: time.sleep(9)", "outlived"),
    "stop": ("signal.raise_signal(signal.SIGSTOP)", "outlived"),
}
"""Programs that do not come to their end, and how they go; the last ones are the supervisor's."""

LOOPS = {"loop in torch", "loop, deaf", "loop in threads"}
"""Of ENDS, those that `make test` runs as one user: each takes a second and more, and a plain loop shows that a user
has the limit."""

PROGRAMS = {
    "Adam": """
m = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.ReLU(), torch.nn.Linear(8, 2))
o = torch.optim.Adam(m.parameters())
losses = []
for _ in range(5):
    o.zero_grad(); loss = m(torch.ones(8, 4)).pow(2).mean(); loss.backward(); o.step(); losses.append(loss.item())
assert losses[-1] < losses[0]""",
    "convolution": "torch.nn.Conv2d(3, 8, 3)(torch.randn(1, 3, 32, 32)).sum().backward()",
    "bfloat16": "a = torch.ones(256, 256, dtype=torch.bfloat16); assert (a @ a)[0, 0] == 256",
    "four threads of torch": "torch.set_num_threads(4); a = torch.ones(900, 900); assert (a @ a)[0, 0] == 900",
    "300 MiB": "assert torch.ones(75 << 20).sum() > 0",
    "no memory": """
try: torch.ones(1 << 31)
except RuntimeError as error: assert 'memory' in str(error)
else: fail()
try: bytearray(8 << 30)
except MemoryError: pass
else: fail()
assert torch.ones(1 << 20).sum() == 1 << 20""",
    "LSTM": "torch.nn.LSTM(4, 4)(torch.randn(3, 1, 4))[0].sum().backward()",
    "attention": "torch.nn.MultiheadAttention(8, 2)(*[torch.randn(3, 1, 8)] * 3)[0].sum().backward()",
    "decomposition": "torch.linalg.svd(torch.randn(30, 30)); numpy.linalg.svd(numpy.ones((30, 30)))",
    "Fourier": "torch.fft.fft(torch.randn(64))",
    "a thread": "seen = []; in_a_thread(lambda: seen.append(torch.ones(3).sum().item())); assert seen == [3.0]",
    "print": "print('x'); print('x', file=sys.stderr, flush=True); sys.stdout.flush()",
    "chance": "torch.seed(); torch.Generator().seed(); random.random(); os.urandom(8); torch.randn(2); numpy.random.default_rng().random(); random.SystemRandom().random()",
    "time": "time.sleep(0.001); time.time(); time.process_time(); time.thread_time(); time.monotonic_ns(); os.times(); time.localtime()",
    "what it is": "os.getpid(); os.cpu_count(); os.sched_getaffinity(0); os.uname(); resource.getrusage(0); resource.getrlimit(7)",
    "a descriptor": "assert open(os.dup(0), 'rb').read() == b''",
    "faults are told": "faulthandler.enable(KEPT); faulthandler.register(signal.SIGUSR1, KEPT); faulthandler.disable()",
    "a late import": """
try: import wave
except ModuleNotFoundError: pass
else: fail()""",
    "no file": """
try: open('x.pt')
except FileNotFoundError: pass
else: fail()
assert os.getcwd() == '/' and not os.path.exists('/etc')""",
    "a signal to itself": "heard = []; signal.signal(signal.SIGUSR1, lambda *_: heard.append(1)); signal.raise_signal(signal.SIGUSR1); assert heard",
    "a traceback": "try: torch.ones(2, 3) @ torch.ones(2, 3)\nexcept RuntimeError: assert 'shapes' in traceback.format_exc()",
    "save into memory": "b = io.BytesIO(); torch.save(torch.ones(3), b); b.seek(0); assert torch.load(b).sum() == 3",
}
"""Programs that come to their end confined."""
