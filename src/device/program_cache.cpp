#include "device/program_cache.hpp"

#include <array>
#include <cstring>
#include <span>
#include <system_error>

#include <zlib.h>

#include "base/atomic_file.hpp"
#include "base/byte_cursor.hpp"
#include "base/files.hpp"
#include "base/format.hpp"
#include "base/log.hpp"

namespace gpufilter {
namespace {

// An entry: magic, key size, binary size, CRC-32 of key and binary (all little-endian), key,
// binary.
constexpr std::array<std::uint8_t, 8> magic{'g', 'p', 'u', 'f', 'p', 'r', 'g', '1'};
constexpr std::size_t header_size = magic.size() + 8 + 8 + 4;
constexpr std::uint64_t largest_entry = std::uint64_t{256} << 20U;  // far more than any program's

std::uint32_t checksum(std::span<const std::uint8_t> bytes) {
  return static_cast<std::uint32_t>(crc32_z(0, bytes.data(), bytes.size()));
}

// FNV-1a; entries hold their whole key, so a clash only costs a compilation.
std::uint64_t hash(const std::string& text) {
  std::uint64_t value = 0xcbf29ce484222325U;
  for (const char c : text) {
    value = (value ^ static_cast<unsigned char>(c)) * 0x100000001b3U;
  }
  return value;
}

}  // namespace

std::filesystem::path ProgramCache::entry(const std::string& key) const {
  return folder_ / formatted("{:016x}.program", hash(key));
}

std::optional<std::vector<std::uint8_t>> ProgramCache::load(const std::string& key) const {
  std::string file;
  try {
    file = read_regular_file(entry(key), largest_entry);
  } catch (const std::system_error&) {
    return std::nullopt;
  }
  const std::span all(reinterpret_cast<const std::uint8_t*>(file.data()), file.size());
  if (all.size() < header_size || std::memcmp(all.data(), magic.data(), magic.size()) != 0) {
    return std::nullopt;
  }
  const std::uint64_t key_size = number_of(all.subspan(8, 8), ByteOrder::little);
  const std::uint64_t binary_size = number_of(all.subspan(16, 8), ByteOrder::little);
  const auto body = all.subspan(header_size);
  if (key_size != key.size() || key_size > body.size() || binary_size != body.size() - key_size ||
      number_of(all.subspan(24, 4), ByteOrder::little) != checksum(body) ||
      std::memcmp(body.data(), key.data(), key.size()) != 0) {
    return std::nullopt;
  }
  const auto binary = body.subspan(key.size());
  return std::vector<std::uint8_t>(binary.begin(), binary.end());
}

bool ProgramCache::store(const std::string& key, const std::vector<std::uint8_t>& binary) const {
  std::vector<std::uint8_t> body(key.begin(), key.end());
  body.insert(body.end(), binary.begin(), binary.end());
  std::vector<std::uint8_t> header(magic.begin(), magic.end());
  put_number(header, key.size(), 8, ByteOrder::little);
  put_number(header, binary.size(), 8, ByteOrder::little);
  put_number(header, checksum(body), 4, ByteOrder::little);
  try {
    std::filesystem::create_directories(folder_);
    AtomicFile file(entry(key));
    file.write(header);
    file.write(body);
    file.commit();
    return true;
  } catch (const std::system_error& error) {
    log::debug(
        formatted("a compiled program was not stored in {}: {}", folder_.string(), error.what()));
    return false;
  }
}

}  // namespace gpufilter
