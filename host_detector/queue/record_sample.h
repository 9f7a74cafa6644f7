// Which sites the records are of, from one record in some sixty: a program that is slow under the
// tool is so because of a few instructions, and its user wants to know which.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <boost/unordered/unordered_flat_map.hpp>

#include "device_logger/site_info.h"
#include "host_detector/pipeline.h"
#include "host_detector/queue/ring_reader.h"

namespace barracuda::detector {

class RecordSample {
 public:
  void take(const RecordBatch& batch);

  // The sites with the most records, the largest share first, `most` of them at most.
  [[nodiscard]] std::vector<SiteShare> largest(std::size_t most) const;

 private:
  // A prime, as loops log a fixed number of records a round.
  static constexpr std::size_t kEvery = 61;

  std::size_t next_ = 0;  // of the records to come
  std::uint64_t seen_ = 0;
  boost::unordered_flat_map<wire::SiteId, std::uint64_t> seen_of_;
};

}  // namespace barracuda::detector
