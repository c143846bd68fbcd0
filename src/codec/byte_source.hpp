// Sources of encoded bytes, also of input that is read more than once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
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

  // The source's name in messages: the path as given, or "standard input".
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

// The reason for refusing a file that lacks its end.
inline constexpr const char* file_ends_early = "the file ends too early";

// Fills `buffer`. Throws PictureError if `source` has fewer bytes.
void read_all(ByteSource& source, std::span<std::uint8_t> buffer);

// Opens a file for reading, or standard input for "-". Throws PictureError if the file is missing,
// a folder or unreadable.
[[nodiscard]] std::unique_ptr<ByteSource> open_source(const std::string& path);

// Reads an open file from its current position; `name` appears in messages.
[[nodiscard]] std::unique_ptr<ByteSource> descriptor_source(FileDescriptor file, std::string name);
// Reads an open file, which stays open, from its beginning. Throws PictureError.
[[nodiscard]] std::unique_ptr<ByteSource> source_from_start(const FileDescriptor& file,
                                                            const std::string& name);

// Reads from `data`; `name` appears in messages.
[[nodiscard]] std::unique_ptr<ByteSource> memory_source(std::vector<std::uint8_t> data,
                                                        std::string name);

// How a path is opened, as open_source() does.
using OpenSource = std::function<std::unique_ptr<ByteSource>(const std::string& path)>;

// Whether `path` can be read or written only once: "-" (standard input or output), a pipe, a
// device.
[[nodiscard]] bool is_stream(const std::string& path);

// Opens the same input repeatedly. If `repeat` is set, an input that can be read only once
// (standard input, a pipe) is first copied to an unnamed temporary file.
class RepeatableSource {
 public:
  // "-" is standard input. Throws PictureError as `open` does, or if the copy fails.
  RepeatableSource(std::string path, bool repeat, OpenSource open = open_source);

  // Opens it at its beginning; do not use sources from earlier calls. Throws PictureError.
  [[nodiscard]] std::unique_ptr<ByteSource> open() const;

 private:
  std::string path_;
  OpenSource open_;
  FileDescriptor copy_;  // none: the path itself can be opened repeatedly
};

// `source`, which nothing has been read from, if its read_at() works; otherwise a copy of it in an
// unnamed temporary file. Throws PictureError if the copy fails.
[[nodiscard]] std::unique_ptr<ByteSource> random_access(std::unique_ptr<ByteSource> source);

// A new temporary file without a name. Throws std::system_error.
[[nodiscard]] FileDescriptor nameless_file();

}  // namespace gpufilter
