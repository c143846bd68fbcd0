#include "net/graph/onnx_tensor.hpp"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <filesystem>
#include <system_error>

#include <fcntl.h>
#include <unistd.h>

#include "base/error.hpp"
#include "base/format.hpp"
#include "base/printable.hpp"
#include "base/regular_file.hpp"

namespace gpufilter {
namespace {

std::size_t bytes_of(std::int64_t type) {
  switch (type) {
    case static_cast<int>(OnnxType::uint8):
    case static_cast<int>(OnnxType::int8):
      return 1;
    case static_cast<int>(OnnxType::float32):
    case static_cast<int>(OnnxType::int32):
      return 4;
    case static_cast<int>(OnnxType::int64):
    case static_cast<int>(OnnxType::float64):
      return 8;
    default:
      return 0;
  }
}

void add_number(OnnxTensor& tensor, std::uint64_t bits) {
  switch (tensor.type) {
    case OnnxType::float32:
      return tensor.floats.push_back(std::bit_cast<float>(static_cast<std::uint32_t>(bits)));
    case OnnxType::float64:
      return tensor.floats.push_back(static_cast<float>(std::bit_cast<double>(bits)));
    case OnnxType::uint8:
      return tensor.integers.push_back(static_cast<std::int64_t>(bits));
    case OnnxType::int8:
      return tensor.integers.push_back(static_cast<std::int8_t>(bits));
    case OnnxType::int32:
      return tensor.integers.push_back(static_cast<std::int32_t>(bits));
    case OnnxType::int64:
      return tensor.integers.push_back(static_cast<std::int64_t>(bits));
  }
}

// Whole numbers need not be stored in as many bits as their type has.
bool fits(OnnxType type, std::int64_t number) {
  switch (type) {
    case OnnxType::uint8:
      return std::in_range<std::uint8_t>(number);
    case OnnxType::int8:
      return std::in_range<std::int8_t>(number);
    case OnnxType::int32:
      return std::in_range<std::int32_t>(number);
    default:
      return true;
  }
}

void set_numbers(OnnxTensor& tensor, std::string_view raw, std::size_t width) {
  tensor.floats.clear();
  tensor.integers.clear();
  tensor.is_float() ? tensor.floats.reserve(raw.size() / width)
                    : tensor.integers.reserve(raw.size() / width);
  for (std::size_t at = 0; at < raw.size(); at += width) {
    std::uint64_t bits = 0;
    for (std::size_t i = 0; i < width; ++i)
      bits |= static_cast<std::uint64_t>(static_cast<unsigned char>(raw[at + i])) << (8 * i);
    add_number(tensor, bits);
  }
}

// Failures of one tensor.
class Reporter {
 public:
  Reporter(const std::string& network, const std::string& tensor)
      : network_(network), tensor_(printable(tensor)) {}

  [[noreturn]] void fail(const std::string& reason) const {
    throw UsageError(formatted("{}: the tensor {}: {}", network_, tensor_, reason));
  }

  void check_bytes(std::uint64_t bytes, std::uint64_t needed) const {
    if (bytes == needed) return;
    fail(formatted("{} bytes where its dimensions ask for {}; the file is damaged", bytes, needed));
  }

 private:
  const std::string& network_;
  std::string tensor_;
};

std::uint64_t place_in_file(const std::string& text, std::uint64_t otherwise,
                            const Reporter& report) {
  if (text.empty()) return otherwise;
  constexpr std::size_t digits = 15;
  if (text.size() > digits || text.find_first_not_of("0123456789") != std::string::npos)
    report.fail(formatted("\"{}\" is not a place in a file", printable(text)));
  return std::stoull(text);
}

// The bytes of a tensor that are in another file, as many as needed. No others are read.
std::string external_bytes(const StoredTensor& stored, const std::string& folder_name,
                           std::uint64_t needed, const Reporter& report) {
  namespace fs = std::filesystem;
  const auto value = [&](const char* key) {
    const auto found = stored.entries.find(key);
    return found == stored.entries.end() ? std::string() : found->second;
  };
  const fs::path location = value("location");
  std::error_code error;
  const fs::path folder = fs::weakly_canonical(folder_name.empty() ? "." : folder_name, error);
  const fs::path file = error ? fs::path() : fs::weakly_canonical(folder / location, error);
  const bool inside =
      std::mismatch(folder.begin(), folder.end(), file.begin(), file.end()).first == folder.end();
  if (error || location.empty() || location.is_absolute() || !inside || file == folder) {
    report.fail(
        formatted("its data is in \"{}\", outside the network's folder; put both files into one "
                  "folder, or export a single file",
                  printable(location.string())));
  }
  const std::uint64_t offset = place_in_file(value("offset"), 0, report);
  try {
    const FileDescriptor opened = open_regular_file(file.string(), O_RDONLY);
    const auto size = static_cast<std::uint64_t>(::lseek(opened.get(), 0, SEEK_END));
    const std::uint64_t rest = offset > size ? 0 : size - offset;
    const std::uint64_t length = place_in_file(value("length"), rest, report);
    if (offset > size || length > rest) {
      report.fail(formatted("its data would extend past the end of {}; the file is damaged",
                            printable(location.string())));
    }
    report.check_bytes(length, needed);
    std::string bytes(length, '\0');
    ::lseek(opened.get(), static_cast<off_t>(offset), SEEK_SET);
    bytes.resize(
        read_fully(opened.get(), {reinterpret_cast<std::uint8_t*>(bytes.data()), bytes.size()}));
    return bytes;
  } catch (const std::system_error& failure) {
    throw UsageError(formatted("{}: {}", file.string(), reason_of(failure)));
  }
}

}  // namespace

void complete(OnnxTensor& tensor, const StoredTensor& stored, std::uint64_t room,
              const std::string& network, const std::string& folder) {
  const Reporter report(network, tensor.name);
  const std::size_t width = bytes_of(stored.type);
  if (width == 0) {
    report.fail(
        formatted("its type is number {}; only float, double, uint8, int8, int32 and int64 "
                  "are supported",
                  stored.type));
  }
  tensor.type = static_cast<OnnxType>(stored.type);
  std::uint64_t count = 1;
  for (const std::int64_t size : tensor.dimensions) {
    const bool fits = size >= 0 && static_cast<std::uint64_t>(size) <= most_numbers;
    if (!fits || (count *= static_cast<std::uint64_t>(size)) > room)
      report.fail(formatted("more than {} numbers in all, the limit for a network", most_numbers));
  }
  std::string file;
  std::optional<std::string_view> raw = stored.raw;
  if (stored.external) raw = file = external_bytes(stored, folder, count * width, report);
  if (raw) {
    report.check_bytes(raw->size(), count * width);
    set_numbers(tensor, *raw, width);
  }
  for (const std::int64_t number : tensor.integers) {
    if (!fits(tensor.type, number))
      report.fail(formatted("its type cannot hold {}; the file is damaged", number));
  }
  if (tensor.count() != count) {
    report.fail(formatted("{} numbers where its dimensions ask for {}; the file is damaged",
                          tensor.count(), count));
  }
}

}  // namespace gpufilter
