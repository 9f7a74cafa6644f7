// Reads and instruments what the program loads, and tells the detector of its sites. Thread-safe.
#pragma once

#include <atomic>
#include <mutex>
#include <string>

#include "host_detector/pipeline.h"
#include "session/device_driver.h"
#include "session/module_registry.h"
#include "session/problems.h"
#include "session/program_image.h"
#include "trace/recorder.h"

namespace barracuda::session {

class ImagePreparer {
 public:
  // `recorder`: null if nothing is recorded.
  ImagePreparer(DeviceDriver& driver, ModuleRegistry& modules, detector::Pipeline& pipeline,
                trace::Recorder* recorder, Problems& problems)
      : driver_(driver),
        modules_(modules),
        pipeline_(pipeline),
        recorder_(recorder),
        problems_(problems) {}

  // `find` knows what machine code was made of. To be called before any image is prepared.
  void know_code(FindOrigin find) { find_origin_ = find; }

  // What the driver gets to load instead of this image; its sites are known to the detector. They
  // throw nothing of what reading and instrumenting throws: such an image is loaded unchanged.
  const ProgramImage& prepare(const void* image);
  const ProgramImage& prepare_file(const std::string& content);

  // Launches may be logged.
  [[nodiscard]] bool has_sites() const { return has_sites_; }

  // Empty before the first image.
  [[nodiscard]] std::string device_name() const;

 private:
  template <typename Read>
  const ProgramImage& prepare_guarded(const Read& read);
  const ProgramImage& prepare_source(const ImageSource& source);

  DeviceDriver& driver_;
  ModuleRegistry& modules_;
  detector::Pipeline& pipeline_;
  trace::Recorder* const recorder_;
  Problems& problems_;
  FindOrigin find_origin_ = nullptr;
  std::atomic<bool> has_sites_ = false;
  mutable std::mutex mutex_;
  std::string device_name_;
};

}  // namespace barracuda::session
