#include "stages/limited_file.hpp"

#include <cstdint>
#include <system_error>
#include <vector>

#include <fcntl.h>

#include "base/error.hpp"
#include "base/format.hpp"
#include "base/posix_file.hpp"

namespace gpufilter {

std::string read_stage_bytes(const std::string& path) {
  constexpr std::size_t step = std::size_t{1} << 20U;
  std::string text;
  try {
    const FileDescriptor file = open_file(path, O_RDONLY);
    for (std::size_t got = step; got == step && text.size() <= stage_file_limit;) {
      std::vector<std::uint8_t> piece(step);
      got = read_fully(file.get(), piece);
      text.append(piece.begin(), piece.begin() + static_cast<std::ptrdiff_t>(got));
    }
  } catch (const std::system_error& error) {
    throw UsageError(formatted("{}: {}", path, describe_system_error(error.code().value())));
  }
  if (text.size() > stage_file_limit) {
    throw UsageError(
        formatted("{}: is larger than {} bytes, the limit for such files", path, stage_file_limit));
  }
  return text;
}

}  // namespace gpufilter
