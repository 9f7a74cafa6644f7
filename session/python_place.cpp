#include "session/python_place.h"

#include <algorithm>
#include <atomic>
#include <dlfcn.h>
#include <string>
#include <vector>

#include "report/python_file.h"
#include "report/script_frame.h"
#include "session/host_stack.h"

namespace barracuda::session {
namespace {

using Object = void;  // Python's; a function that "gives" one is to be matched by one release

// What Python exports, by the names of its stable interface.
struct Python {
  int (*is_initialized)() = nullptr;
  int (*is_finalizing)() = nullptr;  // since 3.13; before it with an underscore
  void* (*thread_state)() = nullptr;
  int (*take_lock)() = nullptr;
  void (*release_lock)(int) = nullptr;
  Object* (*frame)() = nullptr;              // lends
  Object* (*frame_back)(Object*) = nullptr;  // gives
  Object* (*frame_code)(Object*) = nullptr;  // gives
  int (*frame_line)(Object*) = nullptr;
  Object* (*attribute)(Object*, const char*) = nullptr;  // gives
  const char* (*text)(Object*) = nullptr;
  void (*clear_error)() = nullptr;
  void (*keep)(Object*) = nullptr;
  void (*release)(Object*) = nullptr;

  bool load() {
    const auto find = [](auto& function, const char* name) {
      function =
          reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(RTLD_DEFAULT, name));
      return function != nullptr;
    };
    return find(is_initialized, "Py_IsInitialized") &&
           (find(is_finalizing, "Py_IsFinalizing") || find(is_finalizing, "_Py_IsFinalizing")) &&
           find(thread_state, "PyGILState_GetThisThreadState") &&
           find(take_lock, "PyGILState_Ensure") && find(release_lock, "PyGILState_Release") &&
           find(frame, "PyEval_GetFrame") && find(frame_back, "PyFrame_GetBack") &&
           find(frame_code, "PyFrame_GetCode") && find(frame_line, "PyFrame_GetLineNumber") &&
           find(attribute, "PyObject_GetAttrString") && find(text, "PyUnicode_AsUTF8") &&
           find(clear_error, "PyErr_Clear") && find(keep, "Py_IncRef") &&
           find(release, "Py_DecRef");
  }
};

std::string text_attribute(const Python& python, Object* object, const char* name) {
  Object* const value = python.attribute(object, name);
  const char* const text = value == nullptr ? nullptr : python.text(value);
  if (text == nullptr) {
    python.clear_error();
  }
  std::string copy = text == nullptr ? "" : text;
  if (value != nullptr) {
    python.release(value);
  }
  return copy;
}

std::string file_of(const Python& python, Object* frame) {
  Object* const code = python.frame_code(frame);
  std::string file = text_attribute(python, code, "co_filename");
  python.release(code);
  return file;
}

std::uint64_t address_of(const Python& python, Object* frame, const std::string& file) {
  Object* const code = python.frame_code(frame);
  const std::uint64_t address =
      report::script_address(text_attribute(python, code, "co_name"), file,
                             static_cast<std::uint32_t>(python.frame_line(frame)));
  python.release(code);
  return address;
}

std::uint64_t address_of_place(const Python& python) {
  std::vector<Object*> frames;
  std::vector<std::string> files;
  Object* frame = python.frame();
  if (frame == nullptr) {
    return 0;
  }
  python.keep(frame);
  while (frame != nullptr) {
    frames.push_back(frame);
    files.push_back(file_of(python, frame));
    frame = report::is_own_python_file(files.back()) ? nullptr : python.frame_back(frame);
  }
  const std::size_t named = report::own_python_frame(files);
  const std::uint64_t address = address_of(python, frames[named], files[named]);
  std::ranges::for_each(frames, python.release);
  return address;
}

thread_local std::uint64_t g_noted = 0;

std::atomic<std::uint64_t> g_notes = 0;

}  // namespace

void note_python_place() {
  static const Python python = [] {
    Python found;
    return found.load() ? found : Python{};
  }();
  g_noted = 0;
  // A thread that Python does not know runs none of it.
  if (python.is_initialized == nullptr || python.is_initialized() == 0 ||
      python.is_finalizing() != 0 || python.thread_state() == nullptr ||
      g_notes.fetch_add(1, std::memory_order_relaxed) >= kMostStacks) {
    return;
  }
  const int lock = python.take_lock();
  g_noted = address_of_place(python);
  python.release_lock(lock);
}

std::uint64_t noted_python_place() {
  return g_noted;
}

}  // namespace barracuda::session
