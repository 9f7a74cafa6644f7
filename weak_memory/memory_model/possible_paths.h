// Which paths of the threads can be part of one execution, as far as values say: what a path reads
// another has written, and a value that was written once one atomic alone has taken.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "weak_memory/memory_model/program.h"
#include "weak_memory/memory_model/thread_paths.h"

namespace barracuda::memory_model {

class PossiblePaths {
 public:
  // By thread. The program must outlive it.
  PossiblePaths(const Program& program, std::vector<std::vector<Path>> threads);

  // All choices of a path of each thread; none that the axioms allow is lost. `found` and
  // `goes_on` return whether to go on.
  void visit(const std::function<bool()>& goes_on,
             const std::function<bool(const std::vector<const Path*>&)>& found) const;

 private:
  // A path, with the numbers of the cells (a location and a value) that it reads of others, that it
  // writes, and that no other path takes if it does.
  struct Candidate {
    const Path* path = nullptr;
    std::vector<std::uint32_t> reads, writes;
    std::uint64_t taken_alone = 0;
  };

  using Candidates = std::vector<std::vector<const Candidate*>>;  // by thread
  // By thread and cell: what those who write it take alone.
  using Writers = std::vector<std::vector<std::vector<std::uint64_t>>>;
  class Visit;

  // Whether something is left of each thread.
  bool keep_possible(Candidates& candidates) const;
  static bool is_possible(const Candidates& candidates, const Writers& writers, std::size_t thread,
                          const Candidate& path);

  std::vector<std::vector<Path>> threads_;
  std::vector<std::vector<Candidate>> candidates_;
  std::uint32_t cells_ = 0;
};

}  // namespace barracuda::memory_model
