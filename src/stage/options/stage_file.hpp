// The files that stages read: networks, tables, pictures.
#pragma once

#include <concepts>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace gpufilter {

class ByteSource;

// A file at a path, or what would be in one.
struct InputFile {
  template <std::convertible_to<std::string> Path>
  InputFile(const Path& path)  // NOLINT(google-explicit-constructor): a path stands for its file
      : name(path) {}
  // `called` is for messages.
  InputFile(std::string called, std::shared_ptr<const std::vector<std::uint8_t>> bytes)
      : name(std::move(called)), contents(std::move(bytes)) {}

  std::string name;
  std::shared_ptr<const std::vector<std::uint8_t>> contents = nullptr;  // nullptr: in the file
};

// Far more than any reasonable network or profile.
inline constexpr std::uint64_t stage_file_limit = std::uint64_t{64} << 20U;

// The bytes of a file or pipe. Throws UsageError "PATH: reason", also if there are more than
// `limit`.
[[nodiscard]] std::string read_stage_bytes(const InputFile& file,
                                           std::uint64_t limit = stage_file_limit);

// The text of a file of up to 64 KiB. Throws as read_stage_bytes(), and UsageError "FILE: is not a
// text file with WHAT".
[[nodiscard]] std::string read_small_text(const InputFile& file, const std::string& what);

// Opens a picture, or another large file. Throws PictureError.
[[nodiscard]] std::unique_ptr<ByteSource> open_stage_file(const InputFile& file);

}  // namespace gpufilter
