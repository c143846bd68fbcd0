// Destinations of encoded bytes.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace gpufilter {

// A stream of bytes written front to back. They become the output only when commit() returns; a
// sink destroyed before that leaves the file unchanged.
class ByteSink {
 public:
  virtual ~ByteSink() = default;

  // The sink's name in messages: the path as given, or "standard output".
  [[nodiscard]] virtual const std::string& name() const = 0;

  // Throws PictureError if the bytes cannot be written (disk full, pipe closed, ...).
  virtual void write(std::span<const std::uint8_t> bytes) = 0;

  // Makes the written bytes the file's contents, durably. Throws PictureError.
  virtual void commit() = 0;

  [[nodiscard]] virtual std::uint64_t bytes_written() const = 0;
};

// Writes to a file through a temporary one beside it, or to standard output for "-". Devices, pipes
// and sockets are written directly. Throws PictureError if the file cannot be created.
[[nodiscard]] std::unique_ptr<ByteSink> open_sink(const std::string& path);

// Collects the bytes in `destination`, which has to outlive the sink.
[[nodiscard]] std::unique_ptr<ByteSink> memory_sink(std::vector<std::uint8_t>& destination,
                                                    std::string name);

// In words, for the errno `error`. A missing folder is named.
[[nodiscard]] std::string describe_creation_error(const std::string& path, int error);

}  // namespace gpufilter
