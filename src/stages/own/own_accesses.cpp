// The accesses of a kernel to memory, as Oclgrind sees them.
#include <cerrno>
#include <cstdio>
#include <system_error>

#include <sys/mman.h>
#include <unistd.h>

#include "base/error.hpp"
#include "base/files.hpp"
#include "base/format.hpp"
#include "base/printable.hpp"
#include "stages/own/own_kernel.hpp"

namespace gpufilter {
namespace {

// A file in memory that other programs can open by path().
class FileInMemory {
 public:
  explicit FileInMemory(const std::string& text) : file_(memfd_create("kernel", MFD_CLOEXEC)) {
    const auto size = static_cast<ssize_t>(text.size());
    if (!file_ || write(file_.get(), text.data(), text.size()) != size)
      throw std::system_error(errno, std::generic_category(), "a file in memory");
  }
  [[nodiscard]] std::string path() const {
    return formatted("/proc/{}/fd/{}", getpid(), file_.get());
  }

 private:
  FileDescriptor file_;
};

struct Ended {
  int status = 0;
  std::string output;
};

Ended output_of(const std::string& command) {
  Ended ended;
  FILE* pipe = popen(command.c_str(), "r");  // NOLINT(cert-env33-c): quoted by shell_word
  if (pipe == nullptr) throw std::system_error(errno, std::generic_category(), "oclgrind-kernel");
  for (int c = std::getc(pipe); c != EOF; c = std::getc(pipe))
    ended.output += static_cast<char>(c);
  ended.status = pclose(pipe);
  return ended;
}

// What stands between `before` and `after` in the text; empty if it is not there.
std::string between(const std::string& text, const std::string& before, const std::string& after) {
  const std::size_t begin = text.find(before);
  if (begin == std::string::npos) return "";
  const std::size_t from = begin + before.size();
  return text.substr(from, text.find(after, from) - from);
}

// The first finding of a report as one line.
std::string first_finding(const std::string& report, const std::string& file) {
  const std::string line = between(report, "At line ", " (");
  if (line.empty()) return "";
  const std::string what = between(report, "\n", " address ");
  return formatted("{}:{}: {}, by work-item ({})", file, line,
                   what.substr(what.find_first_not_of('\n')), between(report, "Global(", ")"));
}

}  // namespace

std::optional<std::string> wrong_access(const OwnSource& source, const std::string& options,
                                        const OwnCall& call) {
  const FileInMemory kernel(source.text);
  const auto whole = [](std::size_t size, std::size_t group) {
    return (size + group - 1) / group * group;
  };
  const WorkRange& range = call.range;
  std::string call_text =
      formatted("{}\n{}\n{} {} 1\n{} {} 1\n", kernel.path(), source.function,
                whole(range.width, range.group_width), whole(range.height, range.group_height),
                range.group_width, range.group_height);
  for (const std::size_t bytes : call.buffers)
    call_text += formatted("<size={} fill=1 uchar>\n", bytes);
  for (const std::int32_t number : call.numbers)
    call_text += formatted("<size=4 fill={} int>\n", number);
  const FileInMemory simulation(call_text);
  const Ended ended = output_of(
      formatted("oclgrind-kernel --quick --data-races --max-errors 1 --build-options {} {} 2>&1",
                shell_word(options.empty() ? " " : options), simulation.path()));
  constexpr int command_not_found = 127 << 8;
  if (ended.status == command_not_found) return std::nullopt;
  const std::string finding = first_finding(ended.output, source.file);
  if (ended.status != 0 || (finding.empty() && ended.output.find("FATAL") != std::string::npos)) {
    throw UsageError(formatted("{}: Oclgrind cannot run it: {}", source.file,
                               printable(ended.output.substr(0, 300))));
  }
  return finding;
}

}  // namespace gpufilter
