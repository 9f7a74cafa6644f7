#include "session/copy_book.h"

#include <set>

#include <catch2/catch.hpp>

namespace barracuda::session {
namespace {

constexpr std::uint64_t kDefaultStream = 0;

// The place of a call is where its caller is.
[[gnu::noinline]] CopyBook::Call copy(CopyBook& book, std::uint64_t stream) {
  const CopyBook::Call call = book.open(detector::HostOperation::kCopy, stream);
  asm volatile("" ::: "memory");  // stays on the stack
  return call;
}

[[gnu::noinline]] CopyBook::Call call(CopyBook& book, std::uint64_t stream,
                                      detector::HostOperation operation) {
  const CopyBook::Call call = book.open(operation, stream);
  asm volatile("" ::: "memory");
  return call;
}

detector::RaceEvent race_of(detector::AccessSite first, detector::AccessSite second) {
  detector::RaceEvent race;
  race.first.site = first;
  race.second.site = second;
  return race;
}

}  // namespace

TEST_CASE("a call is one place in the program, however often the program comes there") {
  CopyBook book;
  std::set<detector::CallId> numbers;
  for (int round = 0; round < 3; ++round) {
    const CopyBook::Call call = copy(book, kDefaultStream);
    CHECK(call.is_new == (round == 0));
    numbers.insert(call.number);
  }
  CHECK(numbers.size() == 1);
  const CopyBook::Call elsewhere = copy(book, kDefaultStream);
  CHECK(elsewhere.is_new);
  CHECK_FALSE(numbers.contains(elsewhere.number));
  CHECK_FALSE(book.record(elsewhere.number).host_stack.empty());
}

TEST_CASE("what a report says of a call keeps calls apart: the stream, and what it does") {
  CopyBook book;
  std::set<detector::CallId> numbers;
  for (const std::uint64_t stream : {kDefaultStream, std::uint64_t{1}, std::uint64_t{2}}) {
    for (const auto operation :
         {detector::HostOperation::kCopy, detector::HostOperation::kMemset,
          detector::HostOperation::kAllocation, detector::HostOperation::kFree}) {
      const CopyBook::Call opened = call(book, stream, operation);
      CHECK(opened.is_new);
      CHECK(book.record(opened.number).stream == stream);
      CHECK(book.record(opened.number).operation == operation);
      CHECK(book.record(opened.number).call == opened.number);
      numbers.insert(opened.number);
    }
  }
  CHECK(numbers.size() == 12);
}

TEST_CASE("findings name calls, each once, and the sites of kernels are none") {
  CopyBook book;
  const detector::CallId first = copy(book, 1).number;
  copy(book, 2);
  const detector::CallId third = copy(book, 3).number;
  detector::Findings findings;
  CHECK(book.named_in(findings).empty());
  const wire::SiteId kernel{index_of(first)};
  findings.races = {race_of(kernel, third), race_of(third, first),
                    race_of(kernel, detector::CallId{1000})};
  const auto named = book.named_in(findings);
  REQUIRE(named.size() == 2);
  CHECK(named[0].call == first);
  CHECK(named[0].stream == 1);
  CHECK(named[1].call == third);
  CHECK(named[1].stream == 3);
}

TEST_CASE("numbers among the launches are never used again") {
  CopyBook book;
  const detector::CopyId first = book.next_id();
  const detector::CopyId second = book.next_id();
  CHECK(detector::CopyId{} < first);
  CHECK(first < second);
}

TEST_CASE("a run that copies without end stops looking at its stack, and goes on") {
  CopyBook book;
  CopyBook::Call last;
  for (int count = 0; count < 20001; ++count) {
    last = copy(book, kDefaultStream);
  }
  CHECK(last.is_new);  // the first without a stack
  CHECK(book.record(last.number).host_stack.empty());
  const CopyBook::Call elsewhere = copy(book, kDefaultStream);
  CHECK_FALSE(elsewhere.is_new);
  CHECK(elsewhere.number == last.number);
  CHECK(copy(book, 1).is_new);
}

}  // namespace barracuda::session
