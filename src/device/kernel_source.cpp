#include "device/kernel_source.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <sstream>
#include <system_error>

#include "base/error.hpp"
#include "base/files.hpp"
#include "base/format.hpp"

namespace gpufilter {
namespace {

constexpr std::uint64_t largest_kernel_file = std::uint64_t{16} << 20U;
constexpr std::string_view line_directive = "#line ";

const char* live_folder() {
  return std::getenv("GPUFILTER_KERNELS");
}

// The file of that name in `folder` or, as in kernels/ itself, in a folder below it; its path
// directly in `folder` if there is none.
std::filesystem::path live_path(const std::filesystem::path& folder, std::string_view file) {
  namespace fs = std::filesystem;
  std::error_code ignored;
  if (fs::exists(folder / file, ignored)) return folder / file;
  for (fs::recursive_directory_iterator entry(folder, ignored), end; entry != end;
       entry.increment(ignored)) {
    if (entry->path().filename() == file) return entry->path();
  }
  return folder / file;
}

// Nothing if the folder is there and has no such file.
std::optional<std::string> read_live(const std::filesystem::path& folder, std::string_view file) {
  const std::string path = live_path(folder, file);
  try {
    return read_regular_file(path, largest_kernel_file);
  } catch (const std::system_error& error) {
    if (error.code() == std::errc::no_such_file_or_directory && is_folder(folder.string()))
      return std::nullopt;
    throw DeviceError(formatted("{}: {} (GPUFILTER_KERNELS names the folder of kernel files)", path,
                                reason_of(error)));
  }
}

// The line of a compiler's message. Files are named if some of them may have been changed.
std::string line_mark(int number, std::string name) {
  if (live_folder() == nullptr) return formatted("{}{}\n", line_directive, number);
  std::erase_if(name, [](char c) { return c == '"' || c == '\\' || c == '\n'; });
  return formatted("{}{} \"{}\"\n", line_directive, number, name);
}

// The text of a file with the included files inserted, because OpenCL compilers cannot find them.
// #line lets compiler messages use the line numbers of the file.
std::string with_includes(std::string_view file, const std::string& path) {
  constexpr std::string_view include = "#include \"";
  std::istringstream lines{std::string(file)};
  std::string text = line_mark(1, path);
  int number = 1;
  for (std::string line; std::getline(lines, line); ++number) {
    if (line.starts_with(include)) {
      const std::string name = line.substr(include.size(), line.rfind('"') - include.size());
      text += with_includes(kernel_file(name), kernel_path(name)) + line_mark(number + 1, path);
    } else {
      text += line + '\n';
    }
  }
  return text;
}

// "own.cl:6": where the line of that number of a source comes from, as its #line directives say.
std::string origin_of(std::size_t number, std::string_view source) {
  std::string name = "<kernel>";
  std::size_t own = 0;
  std::istringstream lines{std::string(source)};
  std::string line;
  for (std::size_t i = 0; i < number && std::getline(lines, line); ++i) {
    ++own;
    if (!line.starts_with(line_directive)) continue;
    const std::size_t quote = line.find('"');
    if (quote != std::string::npos) name = line.substr(quote + 1, line.rfind('"') - quote - 1);
    own = std::strtoul(line.c_str() + line_directive.size(), nullptr, 10) - 1;
  }
  return formatted("{}:{}", name, own);
}

}  // namespace

std::string with_file_lines(std::string_view log, std::string_view source) {
  constexpr std::string_view mark = "<kernel>:";
  std::string text;
  for (std::size_t at; (at = log.find(mark)) != std::string_view::npos;) {
    text += log.substr(0, at);
    log.remove_prefix(at + mark.size());
    const std::size_t digits = std::min(log.find_first_not_of("0123456789"), log.size());
    const std::string number(log.substr(0, digits));
    text += number.empty() ? std::string(mark)
                           : origin_of(std::strtoul(number.c_str(), nullptr, 10), source);
    log.remove_prefix(digits);
  }
  return text.append(log);
}

std::string kernel_file(std::string_view file) {
  if (const char* folder = live_folder()) {
    if (auto text = read_live(folder, file)) return *std::move(text);
  }
  const auto found = embedded_kernels().find(file);
  if (found == embedded_kernels().end())
    throw DeviceError(formatted("no kernel file named {}", file));
  return std::string(found->second);
}

std::string kernel_path(std::string_view file) {
  const char* folder = live_folder();
  if (folder == nullptr) return std::string(file);
  std::error_code ignored;
  const std::filesystem::path path = live_path(folder, file);
  return std::filesystem::exists(path, ignored) ? path.string() : std::string(file);
}

std::string kernel_source(std::string_view file, std::string_view generated) {
  return source_with(kernel_file(file), generated, kernel_path(file));
}

std::string source_with(std::string_view text, std::string_view generated, std::string_view name) {
  return formatted("{}{}{}\n{}", with_includes(kernel_file("common.cl"), kernel_path("common.cl")),
                   live_folder() == nullptr ? "" : line_mark(1, "generated"), generated,
                   with_includes(text, std::string(name)));
}

}  // namespace gpufilter
