#include "report/host_stack.h"

#include <cstdint>
#include <dlfcn.h>

#include <catch2/catch.hpp>

#include "report/file_symbols.h"
#include "report/script_frame.h"

namespace barracuda::report {
namespace {

[[gnu::noinline]] std::uint64_t return_address() {
  return reinterpret_cast<std::uint64_t>(__builtin_return_address(0));
}

TEST_CASE("a return address is looked up in the module it lies in") {
  const std::uint64_t address = return_address();
  const HostFrame frame = HostSymbols().look_up(address).back();
  CHECK(frame.module == "barracuda.test.report");
  CHECK(frame.offset != 0);
}

TEST_CASE("where libdw is installed, a return address gets its source line") {
  if (dlopen("libdw.so.1", RTLD_LAZY | RTLD_LOCAL) == nullptr) {
    WARN("libdw.so.1 is not installed here");
    return;
  }
  const std::uint64_t address = return_address();
  const std::uint32_t line = __LINE__ - 1;
  const HostFrame frame = HostSymbols().look_up(address).back();
  CHECK(frame.file.ends_with("host_stack_test.cpp"));
  CHECK(frame.line == line);
  CHECK(frame.function.find("barracuda::report") != std::string::npos);
}

[[gnu::always_inline]] inline std::uint64_t inlined_call() {
  return return_address();
}

// As nvcc's stub of a kernel is inlined into the function that launches it.
TEST_CASE("a call in an inlined function has the frames of both") {
  const HostSymbols symbols;
  if (!symbols.has_library()) {
    WARN("libdw.so.1 is not installed here");
    return;
  }
  const std::uint64_t address = inlined_call();
  const std::uint32_t line = __LINE__ - 1;
  const std::vector<HostFrame> frames = symbols.look_up(address);
  REQUIRE(frames.size() == 2);
  CHECK(frames[0].function.find("inlined_call") != std::string::npos);
  CHECK(frames[0].line < line);
  CHECK(frames[1].line == line);
  CHECK(frames[1].file.ends_with("host_stack_test.cpp"));
  CHECK(frames[1].offset == frames[0].offset);
}

TEST_CASE("who has the files finds the lines of frames that their process could not look up") {
  const std::uint64_t address = inlined_call();
  const HostSymbols here;
  if (!here.has_library()) {
    WARN("libdw.so.1 is not installed here");
    return;
  }
  const std::vector<HostFrame> known = here.look_up(address);
  HostFrame unknown = known.back();
  unknown.file.clear();
  unknown.line = 0;
  FileSymbols elsewhere(*DwarfLibrary::load());
  CHECK(elsewhere.look_up(unknown) == known);
  unknown.path = "/nowhere/at/all";
  CHECK(elsewhere.look_up(unknown) == std::vector{unknown});
}

TEST_CASE("where memory was allocated gets its lines from who has the files, too") {
  const std::uint64_t address = return_address();
  const HostSymbols here;
  if (!here.has_library()) {
    WARN("libdw.so.1 is not installed here");
    return;
  }
  HostFrame unknown = here.look_up(address).back();
  const std::string place = launch_place({unknown}, "");
  unknown.file.clear();
  unknown.line = 0;
  const std::string written = launch_place({unknown}, "");
  REQUIRE(written != place);
  Report report;
  report.findings.resize(1);
  Finding& finding = report.findings.front();
  const std::string nothing = ", called from ? (" + unknown.module + "+0xfffffff0)";
  finding.location = "byte 4 of 8 bytes at 0x70 (cudaMalloc from " + written + ", called from " +
                     written + nothing + ", freed since)";
  finding.accesses.resize(1);
  finding.accesses.front().host_stack = {unknown};
  FileSymbols elsewhere(*DwarfLibrary::load());
  place_host_frames(report, elsewhere);
  CHECK(finding.location == "byte 4 of 8 bytes at 0x70 (cudaMalloc from " + place +
                                ", called from " + place + ", freed since)");
}

TEST_CASE("an address outside every module is unknown, not a crash") {
  const HostFrame frame = HostSymbols().look_up(0x10).front();
  CHECK(frame.function.empty());
  CHECK(frame.module.empty());
  CHECK(frame.line == 0);
}

HostFrame frame_of(const char* function, const char* file, std::uint32_t line, const char* module) {
  HostFrame frame;
  frame.function = function;
  frame.file = file;
  frame.line = line;
  frame.module = module;
  frame.offset = 0x1234;
  return frame;
}

TEST_CASE("a launch is placed at the program's own frame, past runtime and stubs") {
  const std::vector<HostFrame> stack = {
      frame_of("cudaLaunchKernel", "", 0, "libcudart.so.13"),
      frame_of("hook", "preload/hook.cpp", 3, "libbarracuda.so"),
      frame_of("libcudart_static_4d8b33a106dceb3c07a56e26de61f2d53bb62a68", "", 0, "app"),
      frame_of("cudaError cudaLaunchKernel<char>(char const*)",
               "/usr/local/cuda/include/cuda_runtime.h", 216, "app"),
      frame_of("__device_stub__Z3addPi(int*)", "/tmp/x.cudafe1.stub.c", 9, "app"),
      frame_of("add(int*)", "app.cu", 5, "app"),
      frame_of("main", "app.cu", 42, "app"),
      frame_of("__libc_start_main", "", 0, "libc.so.6")};
  CHECK(launch_place(stack, "add(int*)") == "main() at app.cu:42");
}

TEST_CASE("memory is made where the program called for it, and by whom that was called") {
  const std::vector<HostFrame> stack = {
      frame_of("cudaMalloc", "", 0, "libcudart.so.13"),
      frame_of("cudaError cudaMalloc<int>(int**, unsigned long)",
               "/usr/local/cuda/include/cuda_runtime.h", 90, "app"),
      frame_of("make(int)", "app.cu", 7, "app"),
      frame_of("std::invoke<int* (*)(int)>(int)", "/usr/include/c++/12/functional", 9, "app"),
      frame_of("call_back", "", 0, "libother.so"),
      frame_of("main", "app.cu", 42, "app"),
      frame_of("_start", "", 0, "app")};
  CHECK(calling_chain(stack) == "make(int) at app.cu:7, called from main() at app.cu:42");
  CHECK(calling_chain({frame_of("main", "", 0, "app"), frame_of("_start", "", 0, "app")}) ==
        "main (app+0x1234)");
  const HostFrame deep = frame_of("deep", "app.cu", 3, "app");
  CHECK(calling_chain({deep, deep, deep, deep}) ==
        "deep() at app.cu:3, called from deep() at app.cu:3, called from deep() at app.cu:3");
  CHECK(calling_chain({}).empty());
}

TEST_CASE("a call below a kernel's launch is placed there too") {
  const std::vector<HostFrame> stack = {
      frame_of("__device_stub__Z2ktIiEvPT_(int*)", "/tmp/x.cudafe1.stub.c", 9, "app"),
      frame_of("void kt<int>(int*)", "app.cu", 5, "app"), frame_of("main", "app.cu", 42, "app")};
  CHECK(calling_place(stack).line == 42);
}

TEST_CASE("the inlined host function of a kernel is no place, whatever DWARF has of its name") {
  const HostFrame main = frame_of("main", "app.cu", 42, "app");
  const char* const kernel = "void ours::kt<int>(int*)";
  for (const char* const name : {"kt<int>", "ours::kt<int>", "void ours::kt<int>(int*)"}) {
    CHECK(launch_place({frame_of(name, "app.cu", 5, "app"), main}, kernel) ==
          "main() at app.cu:42");
  }
  CHECK(launch_place({frame_of("t<int>", "app.cu", 5, "app"), main}, kernel) ==
        "t<int>() at app.cu:5");
  CHECK(launch_place({frame_of("kt<int>(float)", "app.cu", 5, "app"), main}, kernel) ==
        "kt<int>(float) at app.cu:5");
}

TEST_CASE("the host function of a kernel for a lambda is no place") {
  const std::string wrapper =
      "__nv_dl_wrapper_t<__nv_dl_tag<void (Graph::*)(), &Graph::push, 2u>, float*> ";
  const std::string stub = "void each<" + wrapper + ">(int, " + wrapper + ")";
  const HostFrame main = frame_of("main", "app.cu", 42, "app");
  CHECK(launch_place(
            {frame_of(stub.c_str(), "app.cu", 3, "app"), main},
            "void each<Graph::push()::{lambda(int)#2}>(int, Graph::push()::{lambda(int)#2})") ==
        "main() at app.cu:42");
  CHECK(launch_place({frame_of(stub.c_str(), "app.cu", 3, "app"), main}, "void all<int>(int)") ==
        stub + " at app.cu:3");
}

TEST_CASE("a launch from a script is placed at its line, unless compiled code has one of its own") {
  const std::uint64_t address = script_address("<module>", "sum.py", 22);
  CHECK(address == script_address("<module>", "sum.py", 22));
  CHECK(address != script_address("<module>", "sum.py", 23));
  const HostFrame script = HostSymbols().look_up(address).front();
  const HostFrame binding = frame_of("call", "", 0, "binding.so");
  CHECK(launch_place({binding, script}, "add") == "<module> at sum.py:22");
  CHECK(calling_place({binding, script}).file == "sum.py");
  CHECK(calling_place({binding, script}).line == 22);
  const HostFrame extension = frame_of("run", "extension.cu", 7, "extension.so");
  CHECK(launch_place({extension, script}, "add") == "run() at extension.cu:7");
}

HostFrame frame_in(const char* path, const char* function, std::uint32_t line) {
  HostFrame frame = frame_of(function, "some/file", line, "");
  frame.path = path;
  frame.module = frame.path.substr(frame.path.rfind('/') + 1);
  return frame;
}

TEST_CASE("a script's line is its launches' place, though Python's packages have lines") {
  constexpr const char kPackages[] = "/v/lib/python3.12/site-packages/";
  const HostFrame script = HostSymbols().look_up(script_address("raw", "raw.py", 18)).front();
  const std::string launch = "__pyx_f_13cupy_backends_4cuda_3api_6driver_launchKernel(long)";
  const std::string driver = std::string(kPackages) + "cupy_backends/cuda/api/driver.so";
  for (const HostFrame& native :
       {frame_in(driver.c_str(), launch.c_str(), 271), frame_in(driver.c_str(), "launch", 271),
        frame_in("/home/u/cupy/cupy_backends/cuda/api/driver.so", launch.c_str(), 271),
        frame_in("/usr/lib/python3.12/lib-dynload/_ctypes.so", "_call_function_pointer", 9),
        frame_in("/opt/python/lib/libpython3.12.so.1.0", "_call_function_pointer", 9),
        frame_in("/opt/python/bin/python3.12", "_call_function_pointer", 9),
        frame_in("/lib/x86_64-linux-gnu/libffi.so.8", "ffi_call", 9)}) {
    CHECK(launch_place({native, script}, "count") == "raw at raw.py:18");
    CHECK(launch_module({native, script}, "count").empty());
    CHECK(calling_place({native, script}).line == 18);
    CHECK(calling_place({native}).line == native.line);
  }
  // The user's own extension, built at run time or before.
  for (const char* const path :
       {"/home/u/.cache/barracuda/origins/programs/torch_extensions/count/count.so",
        "/home/u/python3_tools/count.cpython-312-x86_64-linux-gnu.so"}) {
    CHECK(launch_place({frame_in(path, "count", 7), script}, "k") == "count() at some/file:7");
  }
}

TEST_CASE("functions of Thrust are passed by where there are no lines, unless there is no other") {
  const HostFrame theirs = frame_of("void thrust::sort<int>(int*, int*)", "", 0, "app");
  CHECK(launch_place({theirs, frame_of("main", "", 0, "app")}, "k") == "main (app+0x1234)");
  CHECK(calling_chain({theirs, frame_of("main", "app.cu", 9, "app")}) == "main() at app.cu:9");
  CHECK(launch_place({theirs}, "k") == "void thrust::sort<int>(int*, int*) (app+0x1234)");
}

TEST_CASE("without debug information the place is the module and offset") {
  CHECK(launch_place({frame_of("main", "", 0, "app")}, "add(int*)") == "main (app+0x1234)");
  CHECK(launch_place({frame_of("", "", 0, "app")}, "add(int*)") == "? (app+0x1234)");
  CHECK(launch_place({}, "add(int*)").empty());
  CHECK(launch_place({HostFrame{}}, "add(int*)").empty());
}

}  // namespace
}  // namespace barracuda::report
