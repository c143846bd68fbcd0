#include "codec/jpeg/write/scan_script.hpp"

#include <algorithm>
#include <array>
#include <cstring>

#include "base/byte_cursor.hpp"
#include "codec/jpeg/read/decompressor.hpp"
#include "codec/jpeg/read/scan_limits.hpp"

namespace gpufilter {
namespace {

constexpr std::uint8_t huffman_tables = 0xC4;
constexpr std::uint8_t scan_marker_code = 0xDA;
constexpr std::uint8_t restart_interval = 0xDD;
constexpr std::size_t max_table_bytes = std::size_t{64} << 10U;
constexpr int max_bit = 13;

// Whether libjpeg accepts silently what a progressive file's scan says of its coefficients.
bool may_be_progressive(const JpegScanHeader& scan) {
  const bool refines = scan.high_bit > 0;
  if (scan.low_bit > max_bit || (refines && scan.low_bit != scan.high_bit - 1)) return false;
  if (scan.first_coefficient == 0) return scan.last_coefficient == 0;
  return scan.first_coefficient <= scan.last_coefficient && scan.last_coefficient < DCTSIZE2 &&
         scan.components.size() == 1;
}

// Checks, as libjpeg does, that each scan continues the coefficients of earlier scans, and that all
// coefficients are complete at the end.
class Progression {
 public:
  explicit Progression(int components) : known_(static_cast<std::size_t>(components)) {
    for (auto& bits : known_)
      bits.fill(nothing);
  }

  bool add(const JpegScanHeader& scan) {
    return std::all_of(scan.components.begin(), scan.components.end(), [&](const auto& component) {
      return add(scan, known_.at(static_cast<std::size_t>(component.index)));
    });
  }

  [[nodiscard]] bool is_complete() const {
    return std::all_of(known_.begin(), known_.end(), [](const auto& bits) {
      return std::all_of(bits.begin(), bits.end(), [](int bit) { return bit == 0; });
    });
  }

 private:
  using Bits = std::array<int, DCTSIZE2>;

  static bool add(const JpegScanHeader& scan, Bits& bits) {
    if (scan.first_coefficient > 0 && bits[0] == nothing) return false;
    const auto begin = bits.begin() + scan.first_coefficient;
    const auto end = bits.begin() + scan.last_coefficient + 1;
    const int before = scan.high_bit > 0 ? scan.high_bit : nothing;
    if (!std::all_of(begin, end, [before](int bit) { return bit == before; })) return false;
    std::fill(begin, end, scan.low_bit);
    return true;
  }

  static constexpr int nothing = -1;
  std::vector<Bits> known_;  // the lowest bit of each coefficient that is known
};

bool depends(const JpegScanHeader& later, const JpegScanHeader& earlier) {
  const bool overlap =
      earlier.first_coefficient == 0 || (later.first_coefficient <= earlier.last_coefficient &&
                                         earlier.first_coefficient <= later.last_coefficient);
  if (!overlap) return false;
  return std::any_of(later.components.begin(), later.components.end(), [&](const auto& one) {
    return std::any_of(earlier.components.begin(), earlier.components.end(),
                       [&](const auto& other) { return one.index == other.index; });
  });
}

class ScriptReader {
 public:
  ScriptReader(const jpeg_decompress_struct& whole, JpegReadAhead& input, std::size_t max_bytes)
      : whole_(whole), input_(input), max_bytes_(max_bytes), progression_(whole.num_components) {}

  std::optional<JpegScanScript> read() {
    const std::vector<JOCTET> restarts = restart_segment(whole_.restart_interval);
    script_.tables.assign(restarts.begin(), restarts.end());
    if (!add_scan(current_scan(whole_))) return std::nullopt;
    while (true) {
      if (!reach(at_ + 2)) return std::nullopt;
      const std::uint8_t marker = input_.bytes()[at_ + 1];
      if (marker == JPEG_EOI) break;
      if (!read_segment(marker)) return std::nullopt;
    }
    const bool all_used = script_.scans.back().tables == script_.tables.size();
    if (!progression_.is_complete() || !all_used) return std::nullopt;
    return std::move(script_);
  }

 private:
  // Whether the file has `end` bytes.
  bool reach(std::size_t end) {
    while (input_.bytes().size() < end) {
      if (end > max_bytes_ || !input_.read_more()) return false;
    }
    return true;
  }

  bool read_segment(std::uint8_t marker) {
    if (!reach(at_ + 4)) return false;
    const std::size_t length = number_of(input_.bytes().subspan(at_ + 2, 2));
    if (input_.bytes()[at_] != 0xFF || length < 2 || !reach(at_ + 2 + length)) return false;
    const auto segment = input_.bytes().subspan(at_, 2 + length);
    at_ += segment.size();
    if (marker == scan_marker_code) return read_scan(segment.subspan(4));
    if (marker != huffman_tables && marker != restart_interval) return false;
    script_.tables.insert(script_.tables.end(), segment.begin(), segment.end());
    return script_.tables.size() <= max_table_bytes;
  }

  bool read_scan(std::span<const std::uint8_t> content) {
    if (content.empty()) return false;
    const std::size_t count = content[0];
    if (count == 0 || content.size() != 4 + 2 * count) return false;
    JpegScanHeader header;
    for (std::size_t i = 0; i < count; ++i) {
      const int index = index_of(content[1 + 2 * i]);
      if (index < 0) return false;
      const int tables = content[2 + 2 * i];
      header.components.push_back({index, tables / 16, tables % 16});
    }
    const auto rest = content.subspan(1 + 2 * count);
    header.first_coefficient = rest[0];
    header.last_coefficient = rest[1];
    header.high_bit = rest[2] >> 4U;
    header.low_bit = rest[2] & 15U;
    return add_scan(std::move(header));
  }

  // -1 where none, or more than one, has this number.
  [[nodiscard]] int index_of(int number) const {
    int found = -1;
    for (int i = 0; i < whole_.num_components; ++i) {
      if (whole_.comp_info[i].component_id != number) continue;
      if (found >= 0) return -1;
      found = i;
    }
    return found;
  }

  // Whose data begin at at_.
  bool add_scan(JpegScanHeader header) {
    const bool in_order =
        std::is_sorted(header.components.begin(), header.components.end(),
                       [](const auto& one, const auto& other) { return one.index <= other.index; });
    const bool is_usual = whole_.progressive_mode != FALSE ? may_be_progressive(header)
                                                           : holds_all_coefficients(header);
    if (!in_order || !is_usual || !progression_.add(header)) return false;
    for (const JpegScanHeader::Component& component : header.components) {
      const jpeg_component_info& info = whole_.comp_info[component.index];
      blocks_ += std::uint64_t{info.width_in_blocks} * info.height_in_blocks;
    }
    if (script_.scans.size() == max_parallel_scans || blocks_ > ScanLimits::max_blocks)
      return false;
    JpegScanScript::Scan scan;
    for (std::size_t i = 0; i < script_.scans.size(); ++i) {
      if (depends(header, script_.scans[i].header)) scan.after.push_back(i);
    }
    scan.header = std::move(header);
    scan.tables = script_.tables.size();
    scan.begin = at_;
    if (!skip_data()) return false;
    scan.end = at_;
    script_.scans.push_back(std::move(scan));
    return true;
  }

  // To the next marker that is not a restart marker.
  bool skip_data() {
    while (true) {
      if (!reach(at_ + 1)) return false;
      const auto rest = input_.bytes().subspan(at_);
      const void* found = std::memchr(rest.data(), 0xFF, rest.size());
      if (found == nullptr) {
        at_ += rest.size();
        continue;
      }
      at_ += static_cast<std::size_t>(static_cast<const std::uint8_t*>(found) - rest.data());
      if (!reach(at_ + 2)) return false;
      const std::uint8_t code = input_.bytes()[at_ + 1];
      const bool in_data = code == 0 || is_restart(code);
      if (!in_data) return code != 0xFF;
      at_ += 2;
    }
  }

  const jpeg_decompress_struct& whole_;
  JpegReadAhead& input_;
  std::size_t max_bytes_;
  std::size_t at_ = 0;  // in input_
  Progression progression_;
  std::uint64_t blocks_ = 0;
  JpegScanScript script_;
};

// The output is given a scan of all components.
bool fits_in_one_scan(const jpeg_decompress_struct& jpeg) {
  return jpeg.num_components <= MAX_COMPS_IN_SCAN && mcu_grid(jpeg).blocks <= D_MAX_BLOCKS_IN_MCU;
}

}  // namespace

std::optional<JpegScanScript> find_scans(const jpeg_decompress_struct& whole, JpegReadAhead& input,
                                         std::size_t max_bytes) {
  const bool suitable =
      has_several_scans(whole) && whole.arith_code == FALSE && fits_in_one_scan(whole);
  return suitable ? ScriptReader(whole, input, max_bytes).read() : std::nullopt;
}

}  // namespace gpufilter
