#include "stage/options/limited_file.hpp"

#include <system_error>

#include "base/error.hpp"
#include "base/files.hpp"
#include "base/format.hpp"

namespace gpufilter {

std::string read_stage_bytes(const std::string& path, std::uint64_t limit) {
  try {
    return read_file_or_pipe(path, limit);
  } catch (const std::system_error& error) {
    throw UsageError(formatted("{}: {}", path, reason_of(error)));
  }
}

}  // namespace gpufilter
