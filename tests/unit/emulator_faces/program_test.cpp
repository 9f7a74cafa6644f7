// Programs built by nvcc, unchanged, run with the emulated runtime and driver in place of NVIDIA's.
// Each checks its own results and ends with status 0.
#include <cstdlib>
#include <string>
#include <sys/wait.h>

#include <catch2/catch.hpp>

namespace {

int run_program(const std::string& command) {
  const std::string line = std::string("LD_LIBRARY_PATH=") + BARRACUDA_FACES_LINKS +
                           " timeout 60 " + BARRACUDA_FACES_PROGRAMS + "/" + command +
                           " > /dev/null";
  const int status = std::system(line.c_str());
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

}  // namespace

TEST_CASE("programs use memory of every kind") {
  CHECK(run_program("memory") == 0);
  CHECK(run_program("memory_per_thread") == 0);
}

TEST_CASE("variables of a program have their addresses and values, and start anew after a reset") {
  CHECK(run_program("symbols") == 0);
}

TEST_CASE("streams, events and host functions run in order") {
  CHECK(run_program("streams") == 0);
  CHECK(run_program("streams_per_thread") == 0);
}

TEST_CASE("kernels run beside each other, copies and the host where they must") {
  CHECK(run_program("concurrent") == 0);
}

TEST_CASE("graphs are built, changed and launched, with nodes of every kind") {
  CHECK(run_program("graphs") == 0);
}

TEST_CASE("work of streams is captured into graphs") {
  CHECK(run_program("capture") == 0);
  CHECK(run_program("capture_per_thread") == 0);
}

TEST_CASE("textures and surfaces") {
  CHECK(run_program("textures") == 0);
}

TEST_CASE("arrays, batches of copies and advice about memory") {
  CHECK(run_program("arrays") == 0);
}

TEST_CASE("launches have attributes, and keep them in graphs") {
  CHECK(run_program("attributes") == 0);
}

TEST_CASE("the blocks of a cluster share their memory, however the cluster is asked for") {
  CHECK(run_program("clusters") == 0);
}

TEST_CASE("memory is mapped into reserved ranges of addresses") {
  CHECK(run_program("mapping") == 0);
}

TEST_CASE("the blocks of a cooperative launch meet at the grid barrier") {
  CHECK(run_program("cooperative") == 0);
}

TEST_CASE("each wrong value gets CUDA's own error, which is the last error once") {
  CHECK(run_program("mistakes") == 0);
}

TEST_CASE("mistakes get CUDA's errors, and a failed kernel stays failed until a reset") {
  CHECK(run_program("errors") == 0);
}

TEST_CASE("a program can ask what the device, a kernel and the driver are") {
  CHECK(run_program("device_query") == 0);
}

TEST_CASE("CUDA can be used before main and after it") {
  CHECK(run_program("early") == 0);
}

TEST_CASE("a forked child gets the error that CUDA gives it") {
  CHECK(run_program("fork") == 0);
}

TEST_CASE("a kernel without PTX is an error, not a crash") {
  CHECK(run_program("no_ptx") == 0);
}

TEST_CASE("the units of an rdc program are linked") {
  CHECK(run_program("rdc") == 0);
}

#ifdef BARRACUDA_CUDA_12
TEST_CASE("a program built with CUDA 12.9 runs over libcudart.so.12") {
  CHECK(run_program("older_toolkit-12.9") == 0);
}
#endif

#ifdef BARRACUDA_CUDA_11
TEST_CASE("a program built with CUDA 11.8 runs over libcudart.so.11.0") {
  CHECK(run_program("older_toolkit-11.8") == 0);
}
#endif

TEST_CASE("a program of the driver API loads PTX and fat binaries") {
  CHECK(run_program("driver_api " BARRACUDA_FACES_PROGRAMS "/kernels.ptx") == 0);
  CHECK(run_program("driver_api " BARRACUDA_FACES_PROGRAMS "/kernels.fatbin") == 0);
}
