#include "host_detector/shadow/page_pool.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <set>
#include <thread>
#include <vector>

#include <catch2/catch.hpp>

namespace barracuda::detector {
namespace {

constexpr std::size_t kSeveralChunks = 1500;  // pages

std::vector<void*> take(PagePool& pool, std::size_t count) {
  std::vector<void*> pages(count);
  for (void*& page : pages) {
    page = pool.take();
    std::memset(page, 0x5A, PagePool::kPageBytes);
  }
  return pages;
}

}  // namespace
}  // namespace barracuda::detector

TEST_CASE("pages are aligned, apart from each other, and can be taken again once given back") {
  using namespace barracuda::detector;
  PagePool pool;
  std::vector<void*> pages = take(pool, kSeveralChunks);
  CHECK(std::ranges::all_of(pages, [](void* page) {
    return reinterpret_cast<std::uintptr_t>(page) % PagePool::kPageBytes == 0;
  }));
  const std::set<void*> first(pages.begin(), pages.end());
  CHECK(first.size() == kSeveralChunks);
  for (std::size_t index = 0; index < pages.size(); index += 2) {
    PagePool::give_back(pages[index]);
  }
  for (std::size_t index = 0; index < pages.size(); index += 2) {
    pages[index] = pool.take();
  }
  const std::set<void*> second(pages.begin(), pages.end());
  CHECK(second == first);
  std::ranges::for_each(pages, PagePool::give_back);
}

TEST_CASE("threads take and give back pages of one pool, whoever took them") {
  using namespace barracuda::detector;
  PagePool pool;
  std::vector<void*> of_first, of_second;
  const auto run_both = [](const auto& first, const auto& second) {
    std::thread other(second);
    first();
    other.join();
  };
  run_both([&] { of_first = take(pool, kSeveralChunks); },
           [&] { of_second = take(pool, kSeveralChunks); });
  std::set<void*> all(of_first.begin(), of_first.end());
  all.insert(of_second.begin(), of_second.end());
  CHECK(all.size() == 2 * kSeveralChunks);
  run_both([&] { std::ranges::for_each(of_second, PagePool::give_back); },
           [&] { std::ranges::for_each(of_first, PagePool::give_back); });
  PagePool::give_back(pool.take());
}
