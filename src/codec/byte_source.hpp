// Sources of encoded bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/posix_file.hpp"

namespace gpufilter {

// A stream of bytes read once, front to back, with a look-ahead.
class ByteSource {
 public:
  virtual ~ByteSource() = default;

  // Its name in messages: the path as given, or "standard input".
  [[nodiscard]] virtual const std::string& name() const = 0;

  // Reads up to `buffer.size()` bytes, fewer only at the end of the stream. Throws PictureError if
  // the operating system reports a failure.
  virtual std::size_t read(std::span<std::uint8_t> buffer) = 0;

  // Consumes `count` bytes, fewer only at the end; throws as read() does.
  virtual void skip(std::uint64_t count);

  // The next bytes without consuming them: up to `count` (at most 64), fewer only at the end.
  virtual std::span<const std::uint8_t> peek(std::size_t count) = 0;
};

// Opens a file for reading, or standard input for "-". Throws PictureError if the file is missing,
// a folder or unreadable.
[[nodiscard]] std::unique_ptr<ByteSource> open_source(const std::string& path);

// Reads an open file from its current position; `name` appears in messages.
[[nodiscard]] std::unique_ptr<ByteSource> descriptor_source(FileDescriptor file, std::string name);

// Reads from `data`; `name` appears in messages.
[[nodiscard]] std::unique_ptr<ByteSource> memory_source(std::vector<std::uint8_t> data,
                                                        std::string name);

}  // namespace gpufilter
