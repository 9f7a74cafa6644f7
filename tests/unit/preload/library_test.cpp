// What libbarracuda.so is to a process that has nothing to do with CUDA, and to the dynamic linker.
#include <cstdio>
#include <set>
#include <sstream>
#include <string>
#include <sys/wait.h>

#include <catch2/catch.hpp>

namespace barracuda::preload {
namespace {

struct Ended {
  int status = -1;
  std::string output;  // both streams
};

Ended run(const std::string& command) {
  Ended ended;
  FILE* const pipe = popen(("{ " + command + "; } 2>&1").c_str(), "r");
  REQUIRE(pipe != nullptr);
  char buffer[4096];
  while (const std::size_t count = fread(buffer, 1, sizeof buffer, pipe)) {
    ended.output.append(buffer, count);
  }
  const int status = pclose(pipe);
  ended.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return ended;
}

const std::string kLibrary = BARRACUDA_LIBRARY;
const std::string kProgram = BARRACUDA_PLAIN_PROGRAM;
const std::string kInterposer = BARRACUDA_INTERPOSER;

TEST_CASE("the library needs libtbb beside it and nothing of CUDA's") {
  const Ended ended = run("readelf -d " + kLibrary);
  REQUIRE(ended.status == 0);
  std::istringstream lines(ended.output);
  for (std::string line; std::getline(lines, line);) {
    if (line.find("(NEEDED)") != std::string::npos) {
      CHECK(line.find("libcu") == std::string::npos);
      CHECK(line.find("libnv") == std::string::npos);
      CHECK(line.find("libstdc++") == std::string::npos);
      CHECK(line.find("libgcc") == std::string::npos);
    }
  }
  CHECK(ended.output.find("[libtbb.so.12]") != std::string::npos);
  CHECK(ended.output.find("$ORIGIN") != std::string::npos);
  CHECK(ended.output.find("NODELETE") != std::string::npos);
}

TEST_CASE(
    "the library exports CUDA's names, its compilers', dlsym and what sanitizers ask, and nothing "
    "else") {
  const Ended ended = run("nm -D --defined-only --without-symbol-versions " + kLibrary);
  REQUIRE(ended.status == 0);
  std::set<std::string> exported;
  std::istringstream lines(ended.output);
  for (std::string address, type, name; lines >> address >> type >> name;) {
    const bool is_of_compiler =
        name.starts_with("nvrtc") || name.find("nvJitLink") != std::string::npos;
    if (type != "A" && !is_of_compiler) {
      exported.insert(name);
    }
  }
  const std::set<std::string> expected = {
      "dlsym",
      "_exit",
      "_Exit",
      "execl",
      "execle",
      "execlp",
      "execv",
      "execve",
      "execvp",
      "execvpe",
      "fexecve",
      "kill",
      "__asan_default_options",
      "__tsan_default_suppressions",
#define FUNCTION(name, ...) #name,
#include "emulator/libcudart.def"
#define FUNCTION(name, ...) #name,
#include "emulator/libcuda.def"
  };
  CHECK(exported == expected);
}

TEST_CASE("a program without CUDA, and its children, keep their output and status") {
  const Ended native = run(kProgram + " 3");
  const Ended watched = run("LD_PRELOAD=" + kLibrary + " " + kProgram + " 3");
  CHECK(native.status == 3);
  CHECK(watched.status == native.status);
  CHECK(watched.output == native.output);
  const Ended shell = run("LD_PRELOAD=" + kLibrary + " sh -c 'echo one; exit 5'");
  CHECK(shell.status == 5);
  CHECK(shell.output == "one\n");
}

TEST_CASE("another preloaded library still finds the function behind it") {
  const Ended ended = run("LD_PRELOAD='" + kLibrary + " " + kInterposer + "' " + kProgram);
  CHECK(ended.status == 0);
  CHECK(ended.output.find("page 1 dlsym 1 missing 1") != std::string::npos);
}

TEST_CASE("a library's own searches mean what they mean without the tool") {
  const Ended native = run(BARRACUDA_SEARCH);
  CHECK(native.status == 0);
  CHECK(native.output ==
        "friend 1\ndefault, own: libbarracuda.test.searcher.so\ndefault, page size: libc.so.6\n"
        "default, of the friend: nowhere\nnext, own: nowhere\nnext, page size: libc.so.6\n"
        "next, with version: libc.so.6\n");
  const Ended watched = run("LD_PRELOAD=" + kLibrary + " " BARRACUDA_SEARCH);
  CHECK(watched.status == 0);
  CHECK(watched.output == native.output);
}

TEST_CASE("an option that is none ends the process before it has begun") {
  const std::string option = GENERATE(as<std::string>(), "no-such-option=1", "queue-slots=many",
                                      "device=toaster", "kernel-name=regex=(", "log=loud");
  const Ended ended =
      run("LD_PRELOAD=" + kLibrary + " BARRACUDA_OPTIONS='" + option + "' " + kProgram);
  CHECK(ended.status == 64);
  CHECK(ended.output.find("BARRACUDA") != std::string::npos);
  CHECK(ended.output.find("page") == std::string::npos);
}

TEST_CASE("help=1 lists the options, and the program runs") {
  const Ended ended = run("LD_PRELOAD=" + kLibrary + " BARRACUDA_OPTIONS=help=1 " + kProgram);
  CHECK(ended.status == 0);
  CHECK(ended.output.find("kernel-name") != std::string::npos);
  CHECK(ended.output.find("page") != std::string::npos);
}

TEST_CASE("device=gpu without a driver says what is missing") {
  if (run("ls /dev/nvidiactl /dev/nvidia0 /dev/dxg").output.find("/dev/nvidia") == 0) {
    WARN("not tried: this machine has a driver");
    return;
  }
  const Ended ended =
      run("LD_PRELOAD=" + kLibrary + " BARRACUDA_OPTIONS=device=gpu " BARRACUDA_DRIVER_PROGRAM);
  CHECK(ended.status == 67);
  CHECK(ended.output.find("no NVIDIA driver was found") != std::string::npos);
}

}  // namespace
}  // namespace barracuda::preload
