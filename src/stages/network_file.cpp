#include <cstdint>
#include <system_error>

#include <fcntl.h>

#include "base/error.hpp"
#include "base/format.hpp"
#include "base/posix_file.hpp"
#include "stages/network.hpp"

namespace gpufilter {
namespace {

// Far more than the numbers of any reasonable network.
constexpr std::size_t largest_file = std::size_t{64} << 20U;

std::string read_text(const std::string& path) {
  constexpr std::size_t step = std::size_t{1} << 20U;
  std::string text;
  try {
    const FileDescriptor file = open_file(path, O_RDONLY);
    for (std::size_t got = step; got == step && text.size() <= largest_file;) {
      std::vector<std::uint8_t> piece(step);
      got = read_fully(file.get(), piece);
      text.append(piece.begin(), piece.begin() + static_cast<std::ptrdiff_t>(got));
    }
  } catch (const std::system_error& error) {
    throw UsageError(formatted("{}: {}", path, describe_system_error(error.code().value())));
  }
  if (text.size() > largest_file) {
    throw UsageError(
        formatted("{}: is larger than {} bytes, the limit for a network", path, largest_file));
  }
  return text;
}

}  // namespace

Network read_network(const std::string& path) {
  return parse_network(read_text(path), path);
}

}  // namespace gpufilter
