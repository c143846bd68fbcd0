// Sources of encoded bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/files.hpp"

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

  // How many bytes there are from where the source began, if read_at() works: not for pipes.
  [[nodiscard]] virtual std::optional<std::uint64_t> size() const { return std::nullopt; }

  // Reads the bytes at `offset` from where the source began, whatever read() has consumed, and
  // consumes nothing; throws as read() does. Call it only if there is a size().
  virtual std::size_t read_at(std::uint64_t offset, std::span<std::uint8_t> buffer);
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
