#include "jit/compiler.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstring>
#include <fcntl.h>
#include <sched.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/assert.h"
#include "base/signals_blocked.h"
#include "base/size_limit_signal.h"

namespace barracuda::jit {
namespace {

// Never one of the three that the compiler gets.
class File {
 public:
  explicit File(int number) : number_(::fcntl(number, F_DUPFD_CLOEXEC, STDERR_FILENO + 1)) {
    ::close(number);
  }

  ~File() { close_now(); }

  File(const File&) = delete;
  File& operator=(const File&) = delete;

  [[nodiscard]] int number() const { return number_; }

  void close_now() {
    if (number_ >= 0) {
      ::close(number_);
      number_ = -1;
    }
  }

 private:
  int number_;
};

Compilation failed(const std::string& what) {
  return {.verdict = Verdict::kFailed, .message = what + ": " + std::strerror(errno)};
}

bool write_all(int file, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(file, text.data(), text.size());
    if (written < 0 && errno != EINTR) {
      return false;
    }
    text.remove_prefix(written < 0 ? 0 : static_cast<std::size_t>(written));
  }
  return true;
}

// All bytes of the answer that begins so; npos if that is not known yet, or it is none.
std::size_t size_of_answer(std::string_view bytes) {
  Answer answer;
  if (bytes.size() < sizeof answer) {
    return std::string_view::npos;
  }
  std::memcpy(&answer, bytes.data(), sizeof answer);
  return answer.magic == Answer{}.magic ? sizeof answer + answer.code_bytes + answer.message_bytes
                                        : std::string_view::npos;
}

// To its end, not that of the pipe: a child that the program forked meanwhile may hold it open.
std::string read_answer_bytes(int file) {
  std::string all;
  std::vector<char> part(std::size_t{1} << 20);
  while (all.size() < size_of_answer(all)) {
    const ssize_t got = ::read(file, part.data(), part.size());
    if (got == 0 || (got < 0 && errno != EINTR)) {
      return all;
    }
    all.append(part.data(), got < 0 ? 0 : static_cast<std::size_t>(got));
  }
  return all;
}

// What the process in the middle needs; it runs in our memory.
struct Start {
  const char* path = nullptr;
  char* const* arguments = nullptr;
  int input = -1;
  int output = -1;
  int error = 0;
};

int start_compiler(void* argument) {
  Start& start = *static_cast<Start*>(argument);
  posix_spawn_file_actions_t files;
  posix_spawnattr_t attributes;
  (void)posix_spawn_file_actions_init(&files);
  (void)posix_spawnattr_init(&attributes);
  // One that is missing would give the compiler what is the program's.
  for (const int error :
       {posix_spawn_file_actions_adddup2(&files, start.input, STDIN_FILENO),
        posix_spawn_file_actions_adddup2(&files, start.output, STDOUT_FILENO),
        posix_spawn_file_actions_addopen(&files, STDERR_FILENO, "/dev/null", O_WRONLY, 0),
        posix_spawn_file_actions_addclosefrom_np(&files, STDERR_FILENO + 1)}) {
    start.error = start.error == 0 ? error : start.error;
  }
  sigset_t signals;
  (void)sigfillset(&signals);
  (void)posix_spawnattr_setsigdefault(&attributes, &signals);
  (void)sigemptyset(&signals);
  (void)posix_spawnattr_setsigmask(&attributes, &signals);
  (void)posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
  char* const no_environment[] = {nullptr};
  pid_t compiler = 0;
  if (start.error == 0) {
    start.error =
        posix_spawn(&compiler, start.path, &files, &attributes, start.arguments, no_environment);
  }
  (void)posix_spawn_file_actions_destroy(&files);
  (void)posix_spawnattr_destroy(&attributes);
  return 0;
}

// By way of a process that ends at once and was made without a signal for its end: only who asks
// for such children hears of it, and its own child is none of ours.
bool start_unseen(Start& start) {
  constexpr std::size_t kStackBytes = std::size_t{256} << 10;
  std::vector<std::byte> stack(kStackBytes);
  const SignalsBlocked no_handlers;  // they would run in our memory
  const int middle =
      ::clone(start_compiler, stack.data() + stack.size(), CLONE_VM | CLONE_VFORK, &start);
  const int error = errno;
  while (middle > 0 && ::waitpid(middle, nullptr, __WCLONE) < 0 && errno == EINTR) {
  }
  errno = middle > 0 ? start.error : error;
  return middle > 0 && start.error == 0;
}

// As one line.
std::string sentence_of(std::string message) {
  std::ranges::replace(message, '\n', ' ');
  message.erase(message.find_last_not_of(' ') + 1);
  return message;
}

// An answer that is cut short is what a compiler leaves that came to a bad end.
Compilation read_answer(const std::string& bytes) {
  Answer answer;
  if (bytes.size() < sizeof answer) {
    return {.message = "the compiler came to an end without an answer"};
  }
  std::memcpy(&answer, bytes.data(), sizeof answer);
  const std::string_view version(
      answer.compiler_version.data(),
      ::strnlen(answer.compiler_version.data(), answer.compiler_version.size()));
  if (version != Compiler::version() || bytes.size() != size_of_answer(bytes)) {
    return {.message = "the compiler is not the one that belongs to this library"};
  }
  return {.verdict = answer.verdict,
          .code = bytes.substr(sizeof answer, answer.code_bytes),
          .message = sentence_of(bytes.substr(sizeof answer + answer.code_bytes))};
}

}  // namespace

std::string_view Compiler::version() {
  return BARRACUDA_PTX_COMPILER_VERSION;
}

bool Compiler::exists() const {
  return !version().empty() && ::access(path_.c_str(), X_OK) == 0;
}

Compilation Compiler::run(std::string_view text, const std::vector<std::string>& flags) const {
  const SizeLimitSignalBlocked no_signal;
  const File input(::memfd_create("barracuda-ptx", MFD_CLOEXEC));
  if (input.number() < 0 || !write_all(input.number(), text) ||
      ::lseek(input.number(), 0, SEEK_SET) != 0) {
    return failed("PTX could not be handed over");
  }
  int ends[2] = {-1, -1};
  if (::pipe2(ends, O_CLOEXEC) != 0) {
    return failed("no pipe");
  }
  const File answer(ends[0]);
  File output(ends[1]);
  std::vector<std::string> words = flags;
  words.insert(words.begin(), path_);
  ASSERT(!path_.empty());
  std::vector<char*> arguments;
  arguments.reserve(words.size() + 1);
  for (std::string& word : words) {
    arguments.push_back(word.data());
  }
  arguments.push_back(nullptr);
  ASSERT(arguments.size() == flags.size() + 2);
  Start start{.path = path_.c_str(),
              .arguments = arguments.data(),
              .input = input.number(),
              .output = output.number()};
  if (!start_unseen(start)) {
    return failed(path_ + " could not be started");
  }
  output.close_now();
  return read_answer(read_answer_bytes(answer.number()));
}

Compilation Compiler::compile(std::string_view text, const std::vector<std::string>& flags,
                              std::size_t threads) const {
  std::vector<std::string> all = flags;
  all.push_back("--split-compile=" + std::to_string(threads));
  Compilation compilation = run(text, all);
  if (compilation.verdict == Verdict::kRefused) {
    std::erase_if(all, [&](const std::string& flag) {
      return flag.starts_with(kLevel) || flag == kFastCompile;
    });
    all.push_back(std::string(kLevel) + "=0");
    const std::string reason = std::move(compilation.message);
    compilation = run(text, all);
    if (compilation.verdict == Verdict::kCompiled) {
      compilation.message = "without optimisation, for the compiler says: " + reason;
    }
  }
  return compilation;
}

}  // namespace barracuda::jit
