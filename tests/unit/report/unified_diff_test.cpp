#include "report/unified_diff.h"

#include <catch2/catch.hpp>

namespace barracuda::report {

TEST_CASE("texts that are the same have no difference") {
  CHECK(unified_diff("a.cu", {"x", "y"}, {"x", "y"}).empty());
  CHECK(unified_diff("a.cu", {}, {}).empty());
}

TEST_CASE("a line that was put in stands between three lines of context") {
  CHECK(unified_diff("a.cu", {"1", "2", "3", "4", "5", "6", "7", "8"},
                     {"1", "2", "3", "4", "new", "5", "6", "7", "8"}) ==
        "--- a.cu\n+++ a.cu\n@@ -2,6 +2,7 @@\n 2\n 3\n 4\n+new\n 5\n 6\n 7\n");
}

TEST_CASE("a line that was changed is taken out and put in") {
  CHECK(unified_diff("a.cu", {"1", "old", "3"}, {"1", "new", "3"}) ==
        "--- a.cu\n+++ a.cu\n@@ -1,3 +1,3 @@\n 1\n-old\n+new\n 3\n");
}

TEST_CASE("changes that are far apart are two hunks, near ones are one") {
  std::vector<std::string> before;
  for (int i = 1; i <= 20; ++i) {
    before.push_back(std::to_string(i));
  }
  std::vector<std::string> far = before;
  far.insert(far.begin() + 17, "b");
  far.insert(far.begin() + 2, "a");
  CHECK(unified_diff("a.cu", before, far) ==
        "--- a.cu\n+++ a.cu\n@@ -1,5 +1,6 @@\n 1\n 2\n+a\n 3\n 4\n 5\n"
        "@@ -15,6 +16,7 @@\n 15\n 16\n 17\n+b\n 18\n 19\n 20\n");
  std::vector<std::string> near = before;
  near.insert(near.begin() + 8, "b");
  near.insert(near.begin() + 4, "a");
  CHECK(
      unified_diff("a.cu", before, near) ==
      "--- a.cu\n+++ a.cu\n@@ -2,10 +2,12 @@\n 2\n 3\n 4\n+a\n 5\n 6\n 7\n 8\n+b\n 9\n 10\n 11\n");
}

TEST_CASE("a file of nothing gets lines, and loses them") {
  CHECK(unified_diff("a.cu", {}, {"1"}) == "--- a.cu\n+++ a.cu\n@@ -0,0 +1 @@\n+1\n");
  CHECK(unified_diff("a.cu", {"1"}, {}) == "--- a.cu\n+++ a.cu\n@@ -1 +0,0 @@\n-1\n");
}

}  // namespace barracuda::report
