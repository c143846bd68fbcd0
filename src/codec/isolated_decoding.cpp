#include "codec/isolated_decoding.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fstream>
#include <string_view>

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/error.hpp"
#include "base/files.hpp"
#include "base/format.hpp"
#include "base/numbers.hpp"
#include "base/stop.hpp"
#include "base/threads.hpp"
#include "codec/codec_table.hpp"

namespace gpufilter {
namespace {

std::atomic<Isolation> wanted = Isolation::automatic;
std::atomic<bool> answers = false;

constexpr const char* own_program = "/proc/self/exe";
constexpr const char* decoding_word = "decode-isolated";
constexpr int shared_file = 3;
constexpr std::string_view picture = "picture";  // the file's name in the other process

// The memory that both processes share: a reason, the pixels and the file, at whole pages.
struct Layout {
  static constexpr std::size_t page = 4096;

  Layout(std::size_t pixels, std::size_t file)
      : file_begin(page + checked_add(pixels, row_slack + page - 1) / page * page),
        end(checked_add(file_begin, file)) {}

  std::size_t file_begin;
  std::size_t end;
};

std::size_t bytes_of_pixels(const PictureShape& shape) {
  return checked_multiply(row_pitch(shape), static_cast<std::size_t>(shape.size.height));
}

std::shared_ptr<std::uint8_t> mapped(const FileDescriptor& file, std::size_t bytes) {
  void* memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file.get(), 0);
  if (memory == MAP_FAILED) throw std::system_error(errno, std::generic_category());
  return {static_cast<std::uint8_t*>(memory),
          [bytes](std::uint8_t* begin) { ::munmap(begin, bytes); }};
}

// ---- The process that asks ----

// Throws PictureError about the file `name`, std::system_error.
pid_t start(const std::string& name, const FileDescriptor& file,
            const std::array<std::string, 10>& words) {
  std::array<const char*, 12> arguments{"gpufilter"};
  std::transform(words.begin(), words.end(), arguments.begin() + 1,
                 [](const std::string& word) { return word.c_str(); });
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_adddup2(&files, file.get(), shared_file);
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    posix_spawn_file_actions_addopen(&files, stream, "/dev/null", O_RDWR, 0);
  posix_spawn_file_actions_addclosefrom_np(&files, shared_file + 1);
  posix_spawnattr_t attributes;  // a session of its own: the terminal's signals are not for it
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSID);
  pid_t child = -1;
  const int error = posix_spawn(&child, own_program, &files, &attributes,
                                const_cast<char* const*>(arguments.data()), environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&files);
  if (error == EAGAIN) {
    throw PictureError(
        name,
        "its decoder needs a separate process, and a limit on processes or memory allows no "
        "more: raise it (ulimit -u)");
  }
  if (error != 0) throw std::system_error(error, std::generic_category());
  return child;
}

// The status with which the process ends; it is killed if this call is stopped.
int end_of(pid_t child) {
  int status = 0;
  try {
    while (::waitpid(child, &status, WNOHANG) == 0) {
      check_stop();
      ::poll(nullptr, 0, 1);
    }
  } catch (...) {
    ::kill(child, SIGKILL);
    ::waitpid(child, &status, 0);
    throw;
  }
  return status;
}

// Why a process that ended like this has no pixels; empty if it has.
std::string failure_of(int status, const char* reason) {
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return "";
  if (WIFEXITED(status) && *reason != '\0') return reason;
  if (WIFEXITED(status)) return formatted("its decoder ended with exit({})", WEXITSTATUS(status));
  if (WTERMSIG(status) == SIGXCPU) return "its decoder took too long";
  const char* name = ::sigabbrev_np(WTERMSIG(status));
  return formatted("its decoder crashed (SIG{})", name == nullptr ? "?" : name);
}

}  // namespace

void set_isolation(Isolation isolation) {
  wanted = isolation;
}

bool needs_isolation(bool known_to_crash) {
  const Isolation isolation = wanted;
  return answers && isolation != Isolation::off && (known_to_crash || isolation == Isolation::on) &&
         ::access(own_program, X_OK) == 0;
}

Image decode_isolated(const std::string& name, ByteSpan file, const PictureHeader& header,
                      const ReadLimits& limits) {
  const PictureShape shape = header.shape();
  const Layout layout(bytes_of_pixels(shape), file.size());
  return with_failures_of(name, [&] {
    const FileDescriptor shared(::memfd_create("picture", MFD_CLOEXEC));
    if (!shared || ::ftruncate(shared.get(), static_cast<off_t>(layout.end)) != 0)
      throw std::system_error(errno, std::generic_category());
    write_fully_at(shared.get(), layout.file_begin, file);
    const auto memory = mapped(shared, layout.end);
    const pid_t child =
        start(name, shared,
              {decoding_word, GPUFILTER_VERSION, std::to_string(::getpid()),
               std::to_string(shape.size.width), std::to_string(shape.size.height),
               std::to_string(shape.format.channels), std::to_string(shape.format.depth),
               std::to_string(file.size()), std::to_string(limits.max_memory),
               std::to_string(limits.max_pixels)});
    auto* reason = reinterpret_cast<char*>(memory.get());
    const int status = end_of(child);
    reason[Layout::page - 1] = '\0';
    const std::string failure = failure_of(status, reason);
    if (!failure.empty()) throw PictureError(name, failure);
    return Image(shape.size.width, {0, shape.size.height}, shape.format,
                 {memory, memory.get() + Layout::page});
  });
}

// ---- The process that decodes ----

namespace {

// Bytes of address space in use. Sanitizers reserve terabytes.
std::uint64_t space_in_use() {
  std::uint64_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  return pages * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
}

// A core file would be of no use, and a bomb must not take the machine.
void limit_resources(const PictureShape& shape, std::uint64_t memory) {
  const rlimit no_core{1, 1};
  ::setrlimit(RLIMIT_CORE, &no_core);
  constexpr std::uint64_t libraries = std::uint64_t{4} << 30U;  // threads reserve much of it
  const rlim_t space = space_in_use() + libraries + 2 * std::min(memory, std::uint64_t{1} << 40U);
  const rlimit address_space{space, space};
  ::setrlimit(RLIMIT_AS, &address_space);
  const rlim_t seconds = 20 + static_cast<rlim_t>(shape.size.pixels() / 1'000'000);
  const rlimit time{seconds, seconds + 5};
  ::setrlimit(RLIMIT_CPU, &time);
}

void decode_shared(const PictureShape& shape, std::size_t file_bytes, const ReadLimits& limits) {
  const Layout layout(bytes_of_pixels(shape), file_bytes);
  const FileDescriptor shared(shared_file);
  const auto memory = mapped(shared, layout.end);
  std::uint8_t* const begin = memory.get();
  try {
    const ByteSpan file(begin + layout.file_begin, file_bytes);
    const Codec* codec = codec_of_content(file.first(std::min(file.size(), recognition_size())));
    if (codec == nullptr) throw PictureError(picture, "no picture");
    const auto reader =
        codec->open(memory_source({file.begin(), file.end()}, std::string(picture)), limits);
    if (reader->header().shape() != shape) throw PictureError(picture, "its header has changed");
    reader->read({begin + Layout::page,
                  row_pitch(shape),
                  {0, shape.size.height},
                  shape.size.width,
                  shape.format});
  } catch (const std::exception& error) {
    std::string_view reason = error.what();
    if (reason.starts_with(picture))
      reason.remove_prefix(std::min(picture.size() + 2, reason.size()));
    std::memcpy(begin, reason.data(), std::min(reason.size(), Layout::page - 1));
    ::_exit(1);
  }
  ::_exit(0);
}

}  // namespace

void answer_isolated_decoding(int argc, const char* const* argv) {
  answers = true;
  if (argc != 11 || argv[1] != std::string_view(decoding_word)) return;
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  PictureShape shape;
  std::size_t file_bytes = 0;
  ReadLimits limits{.warn = false};
  const bool is_right =
      argv[2] == std::string_view(GPUFILTER_VERSION) && argv[3] == std::to_string(::getppid()) &&
      parse_whole(argv[4], shape.size.width) && parse_whole(argv[5], shape.size.height) &&
      parse_whole(argv[6], shape.format.channels) && parse_whole(argv[7], shape.format.depth) &&
      parse_whole(argv[8], file_bytes) && parse_whole(argv[9], limits.max_memory) &&
      parse_whole(argv[10], limits.max_pixels);
  if (!is_right) ::_exit(2);
  set_isolation(Isolation::off);
  limit_resources(shape, limits.max_memory);
  decode_shared(shape, file_bytes, limits);
}

}  // namespace gpufilter
