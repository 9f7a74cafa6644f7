#include "report/python_file.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <catch2/catch.hpp>

#include "tests/unit/scratch_folder.h"

namespace barracuda::report {
namespace {

constexpr const char kHeuristics[] =
    "/opt/v/lib/python3.12/site-packages/torch/_inductor/runtime/triton_heuristics.py";

std::string made(const ScratchFolder& folder, const std::string& name) {
  const std::filesystem::path path = folder / name;
  std::filesystem::create_directories(path.parent_path());
  REQUIRE(std::ofstream(path).put('\n').good());
  return path.string();
}

// The file that is named, of those of a stack.
std::string named_of(const std::vector<std::string>& files) {
  return files[own_python_frame(files)];
}

TEST_CASE("files of packages and of Python's own library are known by their folders") {
  CHECK(is_of_python_package(kHeuristics));
  CHECK(is_of_python_package("/usr/lib/python3/dist-packages/numpy/core.so"));
  CHECK(is_of_python_package("/usr/lib/python3.12/threading.py"));
  CHECK(is_of_python_package("/usr/lib64/python3.9/lib-dynload/_ctypes.so"));
  CHECK_FALSE(is_of_python_package("/home/u/python3.12/train.py"));
  CHECK_FALSE(is_of_python_package("/home/u/.cache/torch_extensions/py312/mine/mine.so"));
  CHECK_FALSE(is_of_python_package("train.py"));
}

TEST_CASE("a file of the program's is there, and no compiler has written it") {
  const ScratchFolder folder;
  CHECK(is_own_python_file(made(folder, "train.py")));
  CHECK_FALSE(is_own_python_file(folder / "gone.py"));
  CHECK_FALSE(is_own_python_file(folder.path()));
  for (const char* const other : {"<string>", "<frozen importlib._bootstrap>", "", kHeuristics}) {
    CHECK_FALSE(is_own_python_file(other));
  }
  CHECK_FALSE(is_own_python_file(made(folder, "lib/python3.12/site-packages/a.py")));
  CHECK_FALSE(is_own_python_file(made(folder, "torchinductor_u/xy/cxy.py")));
  CHECK_FALSE(is_own_python_file(made(folder, ".triton/cache/x/a.py")));
  CHECK_FALSE(is_own_python_file(made(folder, "barracuda/origins/programs/inductor/a.py")));
  // What an installer puts there starts a package.
  CHECK_FALSE(is_own_python_file(made(folder, "bin/torchrun")));
  CHECK(is_own_python_file(made(folder, "bin/train.py")));
}

TEST_CASE("a cache of generated code is where its variable says") {
  const ScratchFolder folder;
  const std::string file = made(folder, "kept/xy/cxy.py");
  const std::string beside = made(folder, "kept_here.py");
  for (const char* const variable : {"TORCHINDUCTOR_CACHE_DIR", "TRITON_CACHE_DIR"}) {
    CHECK(is_own_python_file(file));
    REQUIRE(setenv(variable, (folder / "kept").c_str(), 1) == 0);
    CHECK_FALSE(is_own_python_file(file));
    CHECK(is_own_python_file(beside));
    REQUIRE(setenv(variable, "", 1) == 0);
    CHECK(is_own_python_file(file));
    REQUIRE(unsetenv(variable) == 0);
  }
}

TEST_CASE("the innermost frame of the program's files is named") {
  const ScratchFolder folder;
  const std::string model = made(folder, "model.py");
  const std::string train = made(folder, "train.py");
  const std::string generated = made(folder, "torchinductor_u/xy/cxy.py");
  CHECK(named_of({"<string>", kHeuristics, generated, kHeuristics, model, kHeuristics, train}) ==
        model);
  CHECK(named_of({model}) == model);
  CHECK(own_python_frame({kHeuristics, model, model}) == 1);
}

TEST_CASE("without such a file, what was typed in is named, then a file that is not there") {
  const std::string cell = "<ipython-input-3-0123>";
  CHECK(named_of({"<string>", kHeuristics, cell, kHeuristics, "/v/bin/ipython"}) == cell);
  CHECK(named_of({"<string>", kHeuristics, "<stdin>"}) == "<stdin>");
  // `python -c`: the text that is not called by a package.
  CHECK(own_python_frame({"<string>", kHeuristics, "<string>", "<string>"}) == 2);
  CHECK(own_python_frame({"<string>", "<string>"}) == 0);
  // A cell of Jupyter's, and a program that has left the folder that it was started in.
  const std::string notebook = "/tmp/ipykernel_1/23.py";
  CHECK(named_of({"<string>", kHeuristics, notebook, kHeuristics, "<frozen runpy>"}) == notebook);
  CHECK(named_of({kHeuristics, "moved.py"}) == "moved.py");
  CHECK(named_of({kHeuristics, "/home/u/bin/train"}) == "/home/u/bin/train");
}

TEST_CASE("where all is a package's, its innermost file is named, not what it has generated") {
  const ScratchFolder folder;
  const std::string package = made(folder, "lib/python3.12/site-packages/torch/run.py");
  const std::string caller = made(folder, "lib/python3.12/site-packages/torch/call.py");
  CHECK(named_of({"<string>", "<eval_with_key>.0", package, caller}) == package);
  CHECK(own_python_frame({"<string>", "<frozen runpy>"}) == 0);
}

}  // namespace
}  // namespace barracuda::report
