#!/usr/bin/env python3
"""Runs NVIDIA's CUDA samples on the emulated device: tools/try_samples.py [--from FOLDER] [--jobs N] [NAME...]

Takes the samples from FOLDER (one that has Samples/ and Common/), or fetches Debian's package of release
11.8 (84 MB, once) into build/samples. Fits each program to today's toolkit and to a small size by
replacing text, compiles it, runs it under the tool and compares its own verdict and the exit status with
tools/sample_table.py. Needs the network once and many minutes, so ./check does not run it.
docs/PROGRAMS.md tells what came of it.
"""
import argparse
import concurrent.futures
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

from sample_table import NOTHING_RUNS, SAMPLES

TREE = Path(__file__).resolve().parent.parent
BARRACUDA = TREE / "build/bin/barracuda"
WORK = TREE / "build/samples"
PACKAGE = "nvidia-cuda-samples"
SOURCES = """Types: deb
URIs: http://deb.debian.org/debian
Suites: bookworm
Components: contrib
Signed-By: /usr/share/keyrings/debian-archive-keyring.gpg
"""
NVCC = ["nvcc", "-O2", "-lineinfo", "-w", "-std=c++17", "-cudart", "shared",
        "-gencode", "arch=compute_80,code=compute_80"]
RUN_LIMIT_SECONDS = 300

# What the toolkit has dropped or changed since 11.8.
TODAY = [
    (r"\b\w+(\.|->)(clockRate|memoryClockRate)\b", "1000000"),
    (r"\b\w+(\.|->)(computeMode|kernelExecTimeoutEnabled|cooperativeMultiDeviceLaunch)\b", "0"),
    (r"(\.|->)deviceOverlap\b", r"\1asyncEngineCount"),
    (r"\bcuCtxCreate\((&\w+), 0,", r"cuCtxCreate(\1, nullptr, 0,"),
    (r"\bcudaGraphInstantiate\((&?\w+), (\w+), NULL, NULL, 0\)", r"cudaGraphInstantiate(\1, \2, 0)"),
]
LIBRARIES = [("cuda.h>|cuInit|cuda_drvapi|nvrtc", "-lcuda"), ("nvrtc", "-lnvrtc"), ("curand", "-lcurand"),
             ("omp.h", "-Xcompiler=-fopenmp")]


def fail(message):
    sys.exit("try_samples.py: " + message)


def fetched_samples():
    """The folder with Samples/ and Common/, out of Debian's package."""
    found = WORK / "package/usr/share/doc/nvidia-cuda-toolkit/examples"
    if not (found / "Samples").exists():
        apt = WORK / "apt"
        (apt / "lists/partial").mkdir(parents=True, exist_ok=True)
        (apt / "parts").mkdir(exist_ok=True)
        (apt / "parts/samples.sources").write_text(SOURCES)
        options = ["-o", "Dir::Etc::sourcelist=/dev/null", "-o", f"Dir::Etc::sourceparts={apt}/parts",
                   "-o", f"Dir::State::Lists={apt}/lists"]
        for command in (["apt-get", *options, "update"], ["apt-get", *options, "download", PACKAGE]):
            if subprocess.run(command, cwd=apt, check=False).returncode != 0:
                fail("the package could not be fetched: is there a network?")
        package = next(apt.glob(PACKAGE + "_*.deb"))
        subprocess.run(["dpkg-deb", "-x", str(package), str(WORK / "package")], check=True)
    return found


def fitted(text, sample):
    """The text for today's toolkit and a small size."""
    for pattern, replacement in TODAY:
        text = re.sub(pattern, replacement, text)
    for before, after in sample.cuts:
        text = text.replace(before, after)
    return text


def prepare(samples, sample):
    """Copies the sample, fitted; returns its folder."""
    source = next(iter(sorted(samples.glob(f"Samples/*/{sample.name}"))), None)
    if source is None:
        raise FileNotFoundError(f"no sample {sample.name} in {samples}")
    folder = WORK / "programs" / sample.name
    if folder.exists():
        shutil.rmtree(folder)
    shutil.copytree(source, folder)
    everything = ""
    for path in sorted(folder.rglob("*")):
        if path.suffix in (".cu", ".cuh", ".cpp", ".h"):
            before = path.read_text(errors="replace")
            everything += before
            path.write_text(fitted(before, sample))
    for before, _ in sample.cuts:
        if before not in everything:
            raise ValueError(f"the text to replace is not there: {before}")
    return folder


def common_folder(samples):
    """Common/, fitted like the samples."""
    folder = WORK / "common"
    if not folder.exists():
        shutil.copytree(samples / "Common", folder)
        for path in folder.glob("*.h"):
            path.write_text(fitted(path.read_text(errors="replace"), SAMPLES[0]._replace(cuts=())))
    return folder


def compile_sample(samples, sample):
    """What the compiler says, empty where all is well, and the program."""
    folder = prepare(samples, sample)
    include = [f"-I{common_folder(samples)}", f"-I{folder}", f"-I{folder}/inc"]
    modules = {folder / module for module in sample.modules}
    for module in modules:
        made = ["-fatbin", "-o", f"{module.stem}64.fatbin"]
        if sample.name == "ptxjit":
            made = ["-ptx", "-o", f"{module.stem}64.ptx"]
        built = subprocess.run([*NVCC, *include, *made, str(module)], cwd=folder, text=True,
                               stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
        if built.returncode != 0:
            return built.stdout, None
    files = [path for path in sorted(folder.rglob("*")) if path.suffix in (".cu", ".cpp")
             and path not in modules and not path.name.endswith("_nvrtc.cu")]
    if sample.name.endswith("_nvrtc"):
        files = [path for path in files if path.suffix == ".cpp"]
    text = "".join(path.read_text(errors="replace") for path in files)
    libraries = [library for pattern, library in LIBRARIES if re.search(pattern, text)]
    program = folder / sample.name
    built = subprocess.run([*NVCC, *include, *map(str, files), "-o", str(program), *libraries],
                           cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                           check=False)
    return ("", program) if built.returncode == 0 else (built.stdout, None)


def run_sample(program, sample):
    """What is wrong, a sentence each, the output, and the seconds it took."""
    begin = time.monotonic()
    try:
        ended = subprocess.run(
            [str(BARRACUDA), "run", "--device", "cpu", "--", f"./{program.name}", *sample.arguments],
            cwd=program.parent, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, text=True, errors="replace", timeout=RUN_LIMIT_SECONDS,
            check=False)
    except subprocess.TimeoutExpired:
        return [f"not ended in {RUN_LIMIT_SECONDS} s"], "", time.monotonic() - begin
    seconds = time.monotonic() - begin
    wrong = []
    if ended.returncode != sample.status:
        wrong.append(f"exit status {ended.returncode}, expected {sample.status}")
    if not re.search(sample.says, ended.stdout + ended.stderr):
        wrong.append(f"its output has no /{sample.says}/")
    if "coverage complete" not in ended.stderr and sample.status != NOTHING_RUNS:
        wrong.append("coverage is not complete")
    return wrong, ended.stdout + ended.stderr, seconds


def try_sample(samples, sample):
    try:
        complaint, program = compile_sample(samples, sample)
    except (FileNotFoundError, ValueError) as error:
        return [str(error)], "", 0.0
    if program is None:
        return ["does not compile"], complaint, 0.0
    wrong, output, seconds = run_sample(program, sample)
    (program.parent / "output.txt").write_text(output)
    return wrong, output, seconds


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--from", dest="folder", type=Path)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("names", nargs="*")
    arguments = parser.parse_args()
    unknown = set(arguments.names) - {sample.name for sample in SAMPLES}
    if unknown:
        fail("not in the table: " + ", ".join(sorted(unknown)))
    if not BARRACUDA.exists():
        fail("build first: ./check or ./demo")
    samples = arguments.folder.resolve() if arguments.folder else fetched_samples()
    common_folder(samples)
    chosen = [sample for sample in SAMPLES if not arguments.names or sample.name in arguments.names]
    failed = 0
    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        for sample, (wrong, output, seconds) in zip(
                chosen, pool.map(lambda sample: try_sample(samples, sample), chosen)):
            failed += bool(wrong)
            print(f"{sample.name}: {'; '.join(wrong) if wrong else 'right'}, {seconds:.1f} s", flush=True)
            if wrong:
                print("\n".join(output.splitlines()[-25:]))
    print(f"{len(chosen)} programs, {len(chosen) - failed} right")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
