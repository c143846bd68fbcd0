#include "stage/options/stage_file.hpp"

#include <system_error>

#include "base/error.hpp"
#include "base/files.hpp"
#include "base/format.hpp"
#include "base/printable.hpp"
#include "codec/byte_source.hpp"

namespace gpufilter {

std::string read_stage_bytes(const InputFile& file, std::uint64_t limit) {
  if (file.contents) {
    if (file.contents->size() > limit)
      throw UsageError(formatted("{}: has more than {} bytes", file.name, limit));
    return {file.contents->begin(), file.contents->end()};
  }
  try {
    return read_file_or_pipe(file.name, limit);
  } catch (const std::system_error& error) {
    throw UsageError(formatted("{}: {}", file.name, reason_of(error)));
  }
}

std::string read_small_text(const InputFile& file, const std::string& what) {
  constexpr std::uint64_t largest = 65536;
  std::string text = read_stage_bytes(file, largest);
  if (text.find('\0') != std::string::npos)
    throw UsageError(formatted("{}: is not a text file with {}", file.name, what));
  remove_byte_order_mark(text);
  return text;
}

std::unique_ptr<ByteSource> open_stage_file(const InputFile& file) {
  return file.contents ? memory_source(*file.contents, file.name) : open_source(file.name);
}

}  // namespace gpufilter
