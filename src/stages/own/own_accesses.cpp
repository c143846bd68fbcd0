// The accesses of a kernel to memory, as Oclgrind sees them.
#include <cerrno>
#include <cstdio>
#include <regex>
#include <system_error>

#include <sys/mman.h>
#include <unistd.h>

#include "base/error.hpp"
#include "base/files.hpp"
#include "base/format.hpp"
#include "base/numbers.hpp"
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

// The first finding of a report as one line.
std::string first_finding(const std::string& report, const std::string& file) {
  static const std::regex what(R"((?:^|\n)(\w[^\n]*?)( address [^\n]*)?\n\tKernel:)");
  static const std::regex who(R"(Global\(([\d,]+)\))");
  static const std::regex line(R"(At line (\d+))");
  std::smatch finding, item, place;
  if (!std::regex_search(report, finding, what) || !std::regex_search(report, place, line))
    return "";
  const bool has_item = std::regex_search(report, item, who);
  return formatted("{}:{}: {}{}", file, place[1].str(), finding[1].str(),
                   has_item ? formatted(", by work-item ({})", item[1].str()) : "");
}

}  // namespace

std::optional<std::string> wrong_access(const OwnSource& source, const std::string& options,
                                        const OwnCall& call) {
  const FileInMemory kernel(source.text);
  const WorkRange& range = call.range;
  std::string call_text =
      formatted("{}\n{}\n{} {} 1\n{} {} 1\n", kernel.path(), source.function,
                round_up(range.width, range.group_width),
                round_up(range.height, range.group_height), range.group_width, range.group_height);
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
