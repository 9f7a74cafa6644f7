#!/usr/bin/env python3
"""Holds PyTorch to the same results and the same kernels with and without the tool:
tools/verify_torch_on_gpu.py [BUILD] (default: build). Needs an NVIDIA GPU and PyTorch.

Computes 24 products and convolutions without the tool, once more without it (what differs there is the
program's own doing), under the tool, and under the tool where no kernel is to be checked. Each result
must be the same to the last bit, made by kernels of the same names. cuBLAS and cuDNN choose their
kernels by what they measure of the device, and NVIDIA ships those as machine code, which is not checked:
so nothing may change. Prints a table and `N passed, N failed`.
"""
import hashlib
import json
import os
import subprocess
import sys
from pathlib import Path

TREE = Path(__file__).resolve().parent.parent
RUNS = {"native": None, "native again": None, "tool": "", "tool, nothing checked": "kernel-name=none"}
PRODUCTS = [  # rows, inner, columns
    (512, 512, 512), (64, 64, 64), (100, 100, 100), (256, 1024, 256), (1024, 1024, 1024), (33, 4097, 17),
    (2048, 64, 2048), (16, 8192, 16), (1, 4096, 4096), (4096, 4096, 1), (127, 255, 511), (384, 768, 3072),
]
CONVOLUTIONS = [  # batch, channels, side, filters, size of a filter, stride
    (8, 3, 64, 16, 3, 1), (4, 64, 56, 64, 3, 1), (2, 128, 28, 256, 3, 2), (16, 32, 32, 32, 1, 1),
    (1, 16, 128, 8, 7, 2), (4, 256, 14, 256, 3, 1),
]


def jobs(torch):
    """The name of each computation and a function that makes it, from random inputs."""
    def made(*shape, dtype=torch.float32):
        return torch.randn(*shape).cuda().to(dtype)

    for rows, inner, columns in PRODUCTS:
        a, b = made(rows, inner), made(inner, columns)
        yield f"{rows}x{inner} by {inner}x{columns}", lambda a=a, b=b: a @ b
    for dtype in (torch.float16, torch.bfloat16, torch.float64):
        a, b = made(512, 640, dtype=dtype), made(640, 512, dtype=dtype)
        yield f"512x640 by 640x512, {str(dtype)[6:]}", lambda a=a, b=b: a @ b
    a, b = made(24, 96, 160), made(24, 160, 112)
    yield "24 of 96x160 by 160x112", lambda: torch.bmm(a, b)
    for dtype in (torch.float32, torch.float16):
        linear = torch.nn.Linear(768, 1024).cuda().to(dtype)
        x = made(200, 768, dtype=dtype)
        yield f"linear 768 to 1024, {str(dtype)[6:]}", lambda linear=linear, x=x: linear(x)
    for batch, channels, side, filters, size, stride in CONVOLUTIONS:
        convolution = torch.nn.Conv2d(channels, filters, size, stride).cuda()
        x = made(batch, channels, side, side)
        yield (f"convolution {batch}x{channels}x{side}x{side}, {filters} of {size}x{size}, stride {stride}",
               lambda convolution=convolution, x=x: convolution(x))


def compute():
    """Prints a line of JSON for each computation: its name, its result's hash, its kernels."""
    import torch
    torch.manual_seed(1)
    torch.set_grad_enabled(False)
    for name, job in jobs(torch):
        result = job()
        torch.cuda.synchronize()
        with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CUDA]) as profile:
            again = job()
            torch.cuda.synchronize()
        kernels = [event.name for event in profile.events()
                   if event.device_type == torch.autograd.DeviceType.CUDA and not event.name.startswith("Mem")]
        both = [hashlib.sha256(r.double().cpu().numpy().tobytes()).hexdigest() for r in (result, again)]
        print(json.dumps({"name": name, "results": both, "kernels": kernels}), flush=True)


def start(options, build):
    command = [sys.executable, __file__, "--compute"]
    if options is None:
        return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    environment = dict(os.environ, BARRACUDA_OPTIONS=options, LD_PRELOAD=str(build / "lib/libbarracuda.so"))
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment)


def read(process):
    output = process.communicate()[0]
    return [json.loads(line) for line in output.splitlines() if line.startswith('{"name"')]


def main():
    build = Path(sys.argv[1] if len(sys.argv) > 1 else TREE / "build").resolve()
    started = {run: start(options, build) for run, options in RUNS.items()}
    found = {run: {job["name"]: job for job in read(process)} for run, process in started.items()}
    native = found["native"]
    if not native or any(not job["kernels"] for job in native.values()):
        sys.exit("verify_torch_on_gpu.py: PyTorch computed nothing on a GPU without the tool")
    passed = failed = 0
    print("| computation | " + " | ".join(RUNS) + " |\n|" + " --- |" * (len(RUNS) + 1))
    for name, expected in native.items():
        row = []
        for run in RUNS:
            job = found[run].get(name)
            row.append("missing" if job is None else
                       "; ".join((["other bits"] if job["results"] != expected["results"] else []) +
                                 (["other kernels: " + ", ".join(job["kernels"])]
                                  if job["kernels"] != expected["kernels"] else [])) or "same")
        ok = all(cell == "same" for cell in row)
        passed, failed = passed + ok, failed + (not ok)
        print(f"| {name} | " + " | ".join(row) + " |")
    print(f"{passed} passed, {failed} failed")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    compute() if sys.argv[1:] == ["--compute"] else main()
