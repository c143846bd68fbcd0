// Where encoded bytes come from.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/posix_file.hpp"

namespace gpufilter {

// A stream of bytes read once, front to back, with a look at what comes next.
class ByteSource {
 public:
  virtual ~ByteSource() = default;

  // What messages call it: the path as given, or "standard input".
  [[nodiscard]] virtual const std::string& name() const = 0;

  // Up to `buffer.size()` bytes, fewer only at the end of the stream. Throws PictureError where the
  // operating system reports a failure.
  virtual std::size_t read(std::span<std::uint8_t> buffer) = 0;

  // The next bytes without consuming them: up to `count` (at most 64), fewer only at the end.
  virtual std::span<const std::uint8_t> peek(std::size_t count) = 0;
};

// Opens a file for reading, or standard input for "-". Throws PictureError: missing, a folder,
// unreadable.
[[nodiscard]] std::unique_ptr<ByteSource> open_source(const std::string& path);

// Reads from an open file, from where it stands; `name` appears in messages.
[[nodiscard]] std::unique_ptr<ByteSource> descriptor_source(FileDescriptor file, std::string name);

// Reads from `data`; `name` appears in messages.
[[nodiscard]] std::unique_ptr<ByteSource> memory_source(std::vector<std::uint8_t> data,
                                                        std::string name);

}  // namespace gpufilter
