#include "session/image_preparer.h"

#include <algorithm>
#include <exception>
#include <iterator>
#include <vector>

#include <fmt/format.h>

#include "base/assert.h"

namespace barracuda::session {

const ProgramImage& ImagePreparer::prepare(const void* image) {
  return prepare_guarded([&] { return read_image(image, driver_, find_origin_); });
}

const ProgramImage& ImagePreparer::prepare_file(const std::string& content) {
  return prepare_guarded([&] { return read_image_file(content, driver_, find_origin_); });
}

// What is thrown here is our fault, and costs this image its instrumentation, not the tool.
template <typename Read>
const ProgramImage& ImagePreparer::prepare_guarded(const Read& read) {
  try {
    return prepare_source(read());
  } catch (const std::exception& error) {
    const std::string reason = fmt::format("the tool failed on its module: {}", error.what());
    problems_.add("a module is loaded without instrumentation: " + reason);
    return modules_.unreadable(reason);
  }
}

const ProgramImage& ImagePreparer::prepare_source(const ImageSource& source) {
  {
    // Later, while the process exits, the driver may not answer any more.
    const std::lock_guard lock(mutex_);
    if (device_name_.empty()) {
      device_name_ = driver_.device_name();
      if (recorder_ != nullptr) {
        recorder_->device_named(device_name_);
      }
    }
  }
  ptx::SiteTable added;
  const ProgramImage& prepared = modules_.prepare(source, added);
  if (!added.empty()) {
    ASSERT(prepared.site_count == added.size());
    std::vector<wire::SiteInfo> sites;
    sites.reserve(added.size());
    std::ranges::transform(added, std::back_inserter(sites), &ptx::Site::info);
    if (recorder_ != nullptr) {
      recorder_->sites_described(added);
    }
    pipeline_.add_sites(added.front().id, sites);
    has_sites_ = true;
  }
  return prepared;
}

std::string ImagePreparer::device_name() const {
  const std::lock_guard lock(mutex_);
  return device_name_;
}

}  // namespace barracuda::session
