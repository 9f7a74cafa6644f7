// Machine code of PTX texts: what is on disk is taken from there, what is not is compiled and kept.
// Thread-safe. Code stays where it is while the object lives.
#pragma once

#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/file_cache.h"
#include "jit/compiler.h"

namespace barracuda::jit {

struct Request {
  std::string_view text;
  std::vector<std::string> flags;  // of the compiler
  std::string device;              // what else decides whether code can be loaded
};

enum class CodeSource : std::uint8_t { kMemory, kDisk, kCompiler };

struct Code {
  std::string_view bytes;  // empty where the driver is to compile
  CodeSource source{};
  std::string message;  // what is to be known of it
};

class CodeCache {
 public:
  CodeCache(FileCache files, Compiler compiler)
      : files_(std::move(files)), compiler_(std::move(compiler)) {}

  Code find_or_compile(const Request& request);

  // Whether find_or_compile() would neither compile nor wait.
  bool is_at_hand(const Request& request);

  // Sees to it that all of them are found, in threads of its own: who asks for one of them
  // meanwhile waits for that one only. The texts, and this object, must live as long as the
  // process.
  void compile_ahead(std::vector<Request> requests);

  // The driver has refused the code. Where it takes the text, the text is left to it from now on;
  // where not, the code may have nothing to do with it.
  void forget(const Request& request, bool takes_text);

 private:
  struct Entry {
    std::mutex mutex;  // held while the code is made
    bool is_made = false;
    std::string code;
    bool is_refused = false;  // the code stays: an earlier load may have succeeded
    CodeSource source{};      // for who asks next
    std::string message;
  };

  Entry& entry_of(const Hash128& key);
  void make(const Request& request, const Hash128& key, Entry& entry, std::size_t threads);

  const FileCache files_;
  const Compiler compiler_;
  std::mutex mutex_;
  std::map<Hash128, Entry> entries_;
};

}  // namespace barracuda::jit
