#!/usr/bin/env python3
"""PTX as LLVM's NVPTX back end writes it: a kernel for each of its intrinsics, and for each atomic
operation, load, store and fence of each order and scope.

Usage: write_nvvm_modules.py PTXAS FOLDER [all]. Writes FOLDER/nvvm_N.ptx, with some hundreds of
kernels each; of matrices, textures and surfaces, of which there are some 1500, every tenth without
`all`. What LLVM cannot select for sm_90a, and what PTXAS refuses of it, is left out. Takes the library
that clang-19 needs as well; where there is none, the folder stays empty.
"""

import ctypes
import glob
import os
import re
import subprocess
import sys

TARGET = (b"sm_90a", b"+ptx85")
ORDERS = ("monotonic", "acquire", "release", "acq_rel", "seq_cst")
SCOPES = ("", 'syncscope("block")', 'syncscope("cluster")', 'syncscope("device")')
UPDATES = ("xchg", "add", "sub", "and", "or", "xor", "max", "umin", "uinc_wrap", "udec_wrap", "fadd")
IN_MODULE = 300  # kernels
# Of no PTX, or of what only compilers' own passes may write.
MANY = re.compile(r"llvm\.nvvm\.(wmma|mma|tex|tld4|suld|sust)\.")
LEFT_OUT = re.compile(r"llvm\.nvvm\.(compiler|ptr\.|texsurf|move|bitcast|internal|reflect)")
POINTER = ctypes.c_void_p


class Llvm:
    """As much of LLVM's C interface as is needed."""

    def __init__(self, path):
        self.library = ctypes.CDLL(path)
        self.path = path
        for part in ("TargetInfo", "Target", "TargetMC", "AsmPrinter"):
            getattr(self.library, "LLVMInitializeNVPTX" + part)()
        self.context = self.call("ContextCreate", POINTER)
        self.types = {f"p{space}": self.call("PointerTypeInContext", POINTER, self.context,
                                             ctypes.c_uint(space)) for space in (0, 1, 3)}
        self.types["i32"] = self.call("Int32TypeInContext", POINTER, self.context)
        self.types["float"] = self.call("FloatTypeInContext", POINTER, self.context)

    def call(self, name, result, *arguments):
        function = getattr(self.library, "LLVM" + name)
        function.restype = result
        return function(*(POINTER(a) if isinstance(a, int) and a > 1 << 16 else a
                          for a in arguments))

    def text(self, pointer):
        return ctypes.string_at(pointer).decode()

    def names(self):
        with open(os.path.realpath(self.path), "rb") as file:
            found = re.findall(rb"llvm\.nvvm\.[a-z0-9_.]+(?=\0)", file.read())
        return sorted({name.decode() for name in found})

    def intrinsics(self):
        """(name, type) of each, of overloaded ones by the kinds of pointers."""
        for name in self.names():
            number = self.call("LookupIntrinsicID", ctypes.c_uint, name.encode(),
                               ctypes.c_size_t(len(name)))
            if number == 0 or LEFT_OUT.match(name):
                continue
            if not self.call("IntrinsicIsOverloaded", ctypes.c_int, ctypes.c_uint(number)):
                yield name, self.type_of(number, [])
                continue
            for over in (["p1"], ["p3"], ["p0"], ["i32", "p0"], ["float", "p0"], ["i32", "p1"]):
                typed = in_child(lambda: self.overloaded(number, over))
                if typed:
                    yield tuple(typed.split("\t"))

    def type_of(self, number, over):
        array = (POINTER * len(over))(*over)
        kind = self.call("IntrinsicGetType", POINTER, self.context, ctypes.c_uint(number), array,
                         ctypes.c_size_t(len(over)))
        return self.text(self.call("PrintTypeToString", POINTER, kind))

    def overloaded(self, number, over):
        types = [self.types[one] for one in over]
        length = ctypes.c_size_t()
        name = self.call("IntrinsicCopyOverloadedName", POINTER, ctypes.c_uint(number),
                         (POINTER * len(types))(*types), ctypes.c_size_t(len(types)),
                         ctypes.byref(length))
        return self.text(name) + "\t" + self.type_of(number, types)

    def compile(self, text, path):
        """False where it is no valid module, or LLVM has no instructions for it."""
        return in_child(lambda: self.emit(text, path)) == "good"

    def emit(self, text, path):
        data = text.encode()
        buffer = self.call("CreateMemoryBufferWithMemoryRangeCopy", POINTER, data,
                           ctypes.c_size_t(len(data)), b"module")
        module, message = POINTER(), POINTER()
        if self.call("ParseIRInContext", ctypes.c_int, self.context, buffer, ctypes.byref(module),
                     ctypes.byref(message)):
            return ""
        if self.call("VerifyModule", ctypes.c_int, module, ctypes.c_int(2), ctypes.byref(message)):
            return ""
        target = POINTER()
        self.call("GetTargetFromTriple", ctypes.c_int, b"nvptx64-nvidia-cuda",
                  ctypes.byref(target), ctypes.byref(message))
        machine = self.call("CreateTargetMachine", POINTER, target, b"nvptx64-nvidia-cuda",
                            *TARGET, ctypes.c_int(1), ctypes.c_int(0), ctypes.c_int(0))
        failed = self.call("TargetMachineEmitToFile", ctypes.c_int, machine, module, path.encode(),
                           ctypes.c_int(0), ctypes.byref(message))
        return "" if failed else "good"


def in_child(work):
    """What `work` returns; LLVM ends its process where it does not know on."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
        os.write(write, work().encode())
        os._exit(0)
    os.close(write)
    with os.fdopen(read) as pipe:
        answer = pipe.read()
    return answer if os.waitpid(child, 0)[1] == 0 else ""


def divided(types):
    """The types of a list of parameters."""
    parts, depth, part = [], 0, ""
    for letter in types:
        depth += (letter in "<{([") - (letter in ">})]")
        if letter == "," and depth == 0:
            parts.append(part.strip())
            part = ""
        else:
            part += letter
    return parts + [part.strip()] if part.strip() else parts


class Kernel:
    """Loads arguments, calls one intrinsic, stores what it returns."""

    def __init__(self, number, name, kind):
        self.number, self.name = number, name
        opening = kind.rindex("(") if kind.count("(") == 1 else kind.index(" (") + 1
        self.result, self.arguments = kind[:opening].strip(), divided(kind[opening + 1:-1])
        self.constants = 0  # how its numbers are given, a bit each

    def is_callable(self):
        return not {"...", "metadata", "token", "label"} & set(self.arguments)

    def argument(self, index, kind, body):
        is_number = re.fullmatch(r"i\d+", kind) is not None
        is_last = index + 1 == len(self.arguments)
        if is_number and (self.constants == 2 or (self.constants == 1 and is_last)):
            return f"{kind} {'true' if kind == 'i1' else 4 if is_last else 1}"
        place = f"getelementptr i8, ptr addrspace(1) %p, i64 {16 * (index + 1)}"
        body.append(f"  %q{index} = {place}")
        if kind == "ptr addrspace(3)":
            body.append(f"  %o{index} = load i32, ptr addrspace(1) %q{index}")
            body.append(f"  %a{index} = inttoptr i32 %o{index} to {kind}")
        else:
            body.append(f"  %a{index} = load {kind}, ptr addrspace(1) %q{index}, align 16")
        return f"{kind} %a{index}"

    def declaration(self):
        return f"declare {self.result} @{self.name}({', '.join(self.arguments)})"

    def definition(self):
        body = []
        call = ", ".join(self.argument(*each, body) for each in enumerate(self.arguments))
        if self.result == "void":
            body.append(f"  call void @{self.name}({call})")
        else:
            body.append(f"  %r = call {self.result} @{self.name}({call})")
            body.append(f"  store {self.result} %r, ptr addrspace(1) %p, align 16")
        lines = "\n".join(body)
        return f"define void @k{self.number}(ptr addrspace(1) %p) {{\n{lines}\n  ret void\n}}"


class Access(Kernel):
    """One instruction of LLVM that is ordered."""

    def __init__(self, number, text):
        super().__init__(number, "llvm.donothing", "void ()")
        self.access = text

    def definition(self):
        return (f"define void @k{self.number}(ptr addrspace(1) %p) {{\n"
                "  %q = getelementptr i8, ptr addrspace(1) %p, i64 16\n"
                f"  {self.access}\n  ret void\n}}")


def accesses(number):
    for scope in SCOPES:
        for order in ORDERS:
            texts = [f"fence {scope} {order}"]
            for space in ("ptr addrspace(1) %p",):
                texts += [f"%v = load atomic i32, {space} {scope} {order}, align 4",
                          f"%v = load atomic i64, {space} {scope} {order}, align 8",
                          f"store atomic i32 1, {space} {scope} {order}, align 4",
                          f"%v = cmpxchg {space}, i32 0, i32 1 {scope} {order} monotonic",
                          f"%v = cmpxchg {space}, i16 0, i16 1 {scope} {order} monotonic"]
                for update in UPDATES:
                    value = "float 1.0" if update == "fadd" else "i32 1"
                    texts.append(f"%v = atomicrmw {update} {space}, {value} {scope} {order}")
            for text in texts:
                yield Access(number, text)
                number += 1


def refused(ptxas, path):
    """The numbers of the kernels that ptxas does not assemble; None: it does not say."""
    run = subprocess.run([ptxas, "-arch=sm_90a", "-c", path, "-o", os.devnull],
                         stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    lines = [int(line) for line in re.findall(r"line (\d+); error", run.stdout)]
    if run.returncode != 0 and not lines:
        return None
    with open(path) as file:
        text = file.read().splitlines()
    found = set()
    for line in lines:
        above = next(at for at in range(line - 1, -1, -1) if ".entry k" in text[at])
        found.add(int(re.search(r"\.entry k(\d+)", text[above]).group(1)))
    return found


def assembled(llvm, ptxas, kernels, path):
    """Those that ptxas assembles. It crashes on some, and says nothing of them."""
    llvm.compile(module_of(kernels), path)
    bad = refused(ptxas, path)
    if bad is not None:
        good = [kernel for kernel in kernels if kernel.number not in bad]
        return good if not bad or not good else assembled(llvm, ptxas, good, path)
    if len(kernels) == 1:
        return []
    half = len(kernels) // 2
    return (assembled(llvm, ptxas, kernels[:half], path) +
            assembled(llvm, ptxas, kernels[half:], path))


def module_of(kernels):
    notes = "".join(f'!{i} = !{{ptr @k{kernel.number}, !"kernel", i32 1}}\n'
                    for i, kernel in enumerate(kernels))
    lines = ['target triple = "nvptx64-nvidia-cuda"']
    lines += sorted({kernel.declaration() for kernel in kernels})
    lines += [kernel.definition() for kernel in kernels]
    numbers = ", ".join(f"!{i}" for i in range(len(kernels)))
    return "\n".join(lines) + f"\n!nvvm.annotations = !{{{numbers}}}\n" + notes


def known(llvm, kernels):
    """Those that LLVM compiles."""
    if not kernels or llvm.compile(module_of(kernels), os.devnull):
        return kernels
    if len(kernels) == 1:
        return []
    half = len(kernels) // 2
    return known(llvm, kernels[:half]) + known(llvm, kernels[half:])


def main():
    ptxas, folder = sys.argv[1:3]
    step = 1 if "all" in sys.argv[3:] else 10
    libraries = glob.glob("/usr/lib/*/libLLVM.so.19*") + glob.glob("/usr/lib/llvm-19/lib/libLLVM.so*")
    if not libraries:
        print("no libLLVM of version 19: no modules")
        return
    llvm = Llvm(libraries[0])
    kernels = [Kernel(i, *each) for i, each in enumerate(llvm.intrinsics())]
    many = [kernel for kernel in kernels if MANY.match(kernel.name)]
    kernels = [kernel for kernel in kernels if not MANY.match(kernel.name)] + many[::step]
    kernels += accesses(len(kernels) + len(many))
    rest = [kernel for kernel in kernels if kernel.is_callable()]
    good = []
    for constants in range(3):
        for kernel in rest:
            kernel.constants = constants
        compiled = [kernel for begin in range(0, len(rest), 32)
                    for kernel in known(llvm, rest[begin:begin + 32])]
        good += compiled
        rest = [kernel for kernel in rest if kernel not in set(compiled)]
    count = len({kernel.name for kernel in kernels})
    written = 0
    for number, begin in enumerate(range(0, len(good), IN_MODULE)):
        path = f"{folder}/nvvm_{number}.ptx"
        kernels = assembled(llvm, ptxas, good[begin:begin + IN_MODULE], path)
        llvm.compile(module_of(kernels), path)
        written += len(kernels)
    print(f"{written} kernels of {count} intrinsics; "
          f"{len(rest)} are not for this target, {len(good) - written} not for ptxas")


if __name__ == "__main__":
    main()
