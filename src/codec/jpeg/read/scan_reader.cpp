#include "codec/jpeg/read/scan_reader.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "base/byte_cursor.hpp"

namespace gpufilter {
namespace {

constexpr std::uint8_t huffman_tables = 0xC4;
constexpr std::uint8_t scan_marker_code = 0xDA;
constexpr std::uint8_t restart_interval = 0xDD;
constexpr std::size_t max_table_bytes = std::size_t{64} << 10U;
constexpr int max_bit = 13;
constexpr std::size_t max_parallel_scans = 64;  // each costs memory: a decompressor

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
    return std::ranges::all_of(scan.components, [&](const auto& component) {
      return add(scan, known_.at(static_cast<std::size_t>(component.index)));
    });
  }

  [[nodiscard]] bool is_complete() const {
    return std::ranges::all_of(known_, [](const auto& bits) {
      return std::ranges::all_of(bits, [](int bit) { return bit == 0; });
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
  return std::ranges::any_of(later.components, [&](const auto& one) {
    return std::ranges::any_of(earlier.components,
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

  // Adds a scan whose data begin at at_.
  bool add_scan(JpegScanHeader header) {
    const bool in_order = std::ranges::is_sorted(
        header.components,
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
      at_ = end_of_data(input_.bytes(), at_);
      if (at_ + 1 < input_.bytes().size()) return input_.bytes()[at_ + 1] != 0xFF;
      if (!reach(at_ + 2)) return false;
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

// How much of the file's rest from `at` on a decompressor of the whole file has in its buffer when
// it gets there, if `unread` bytes were in the buffer when it had read the header.
std::size_t buffered_at(std::size_t at, std::size_t unread) {
  if (at < unread) return unread - at;
  const std::size_t used = (at - unread) % JpegInput::buffer_size;
  return used == 0 ? 0 : JpegInput::buffer_size - used;
}

// Distributing smaller bands would cost more than decoding them; larger ones do not fit the cache.
constexpr std::int64_t band_pixels = std::int64_t{64} << 10U;
// Enough for scans to be ahead of each other and of the output.
constexpr int bands_in_window = 8;
// For smaller pictures, creating the decoders takes as long as they save.
constexpr std::int64_t min_pixels_to_share = std::int64_t{384} << 10U;

int band_of(const McuGrid& grid) {
  return static_cast<int>(std::max<std::int64_t>(band_pixels / grid.pixels_a_row(), 1));
}

// How many threads the scans can keep busy: one thread at a time works on the largest scan.
std::size_t useful_threads(const std::vector<JpegScanScript::Scan>& scans) {
  std::size_t sum = 0;
  std::size_t largest = 1;
  for (const JpegScanScript::Scan& scan : scans) {
    sum += scan.end - scan.begin;
    largest = std::max(largest, scan.end - scan.begin);
  }
  return (sum + largest - 1) / largest;
}

}  // namespace

// Decodes a scan into coefficients that it shares with other scans. All functions throw
// PictureError for every warning of libjpeg, even a harmless one.
class JpegScanDecoder {
 public:
  // Scan `index` of the file whose header `whole` has read; `data` is the rest of the file. `data`
  // and `coefficients` outlive the decoder.
  JpegScanDecoder(const JpegRowDecoder& whole, const JpegScanScript& script, std::size_t index,
                  std::span<const JOCTET> data, JpegCoefficients& coefficients)
      : data_(data.subspan(script.scans.at(index).begin)),
        end_(script.scans[index].end - script.scans[index].begin),
        errors_(whole.name()),
        input_(errors_),
        jpeg_(errors_) {
    errors_.expect_one_scan();
    const JpegScanScript::Scan& scan = script.scans[index];
    header_ = part_header(whole.jpeg(), static_cast<int>(whole.jpeg().image_height),
                          std::span(script.tables).first(scan.tables), scan.header);
    const std::size_t header_size = header_.size();
    header_.resize(header_size + buffered_at(scan.begin, whole.input().unread().size()));
    header_.resize(header_size + read(std::span(header_).subspan(header_size)));
    input_.open([this](std::span<JOCTET> buffer) { return read(buffer); }, header_, {});
    errors_.run([&] {
      jpeg_.create();
      jpeg_.src = &input_;
      jpeg_.copy_tables(whole.jpeg());
      jpeg_.use(coefficients);
      jpeg_read_header(&jpeg_, TRUE);
      jpeg_.buffered_image = TRUE;
      jpeg_.raw_data_out = TRUE;  // no output buffers: another decompressor makes the output
      jpeg_start_decompress(&jpeg_);
    });
  }

  // Decodes the next `count` rows of MCUs. All scans that this one comes after must have decoded
  // them already.
  void decode(int count) {
    errors_.run([&] {
      for (int i = 0; i < count; ++i)
        jpeg_consume_input(&jpeg_);
    });
  }

  // Call it after the last row: checks that the data end.
  void finish() {
    errors_.run([this] {
      while (jpeg_consume_input(&jpeg_) != JPEG_REACHED_EOI) {
      }
    });
  }

 private:
  // Fills the same buffers as for a decompressor of the whole file, except that an end marker
  // replaces the marker that follows the scan. As long as the buffer holds much, libjpeg uses a
  // fast Huffman decoder, which does not report bad codes. So the buffers' ends decide which damage
  // is reported.
  std::size_t read(std::span<JOCTET> buffer) {
    const auto bytes = data_.subspan(at_, std::min(buffer.size(), data_.size() - at_));
    std::copy(bytes.begin(), bytes.end(), buffer.begin());
    const std::size_t end_code = end_ + 1;
    if (end_code >= at_ && end_code - at_ < bytes.size()) buffer[end_code - at_] = JPEG_EOI;
    at_ += bytes.size();
    return bytes.size();
  }

  std::span<const JOCTET> data_;  // of this scan and of what follows it
  std::size_t end_;               // of this scan
  std::size_t at_ = 0;
  JpegErrors errors_;
  JpegInput input_;
  std::vector<JOCTET> header_;  // and the first bytes of the scan
  Decompressor jpeg_;
};

std::optional<JpegScanScript> find_scans(const jpeg_decompress_struct& whole, JpegReadAhead& input,
                                         std::size_t max_bytes) {
  const bool suitable =
      has_several_scans(whole) && whole.arith_code == FALSE && fits_in_one_scan(whole);
  return suitable ? ScriptReader(whole, input, max_bytes).read() : std::nullopt;
}

bool JpegScanReader::is_worthwhile(const jpeg_decompress_struct& jpeg) {
  const McuGrid grid = mcu_grid(jpeg);
  return grid.count.height * grid.pixels_a_row() >= min_pixels_to_share &&
         grid.count.height >= 2 * band_of(grid);
}

JpegScanReader::JpegScanReader(const JpegRowDecoder& whole, JpegScanScript script,
                               std::span<const JOCTET> data, std::size_t threads)
    : script_(std::move(script)),
      grid_(mcu_grid(whole.jpeg())),
      band_(band_of(grid_)),
      window_(std::min(bands_in_window * band_, grid_.count.height)),
      coefficients_(whole.jpeg(), window_),
      output_(whole.name()) {
  for (std::size_t i = 0; i < script_.scans.size(); ++i) {
    scans_.push_back({std::make_unique<JpegScanDecoder>(whole, script_, i, data, coefficients_)});
  }
  output_.open_output(whole, coefficients_);
  // Threads besides the caller's, which also makes the output.
  const std::size_t others = std::min(threads - 1, useful_threads(script_.scans));
  for (std::size_t i = 0; i < others; ++i)
    workers_.emplace_back(background_);
}

JpegScanReader::~JpegScanReader() {
  const Lock lock(mutex_);
  stopped_ = true;
  changed_.notify_all();
}

void JpegScanReader::read_row(std::uint8_t* row) {
  const int mcu_row = rows_ / grid_.mcu.height;
  if (rows_ % grid_.mcu.height == 0) {
    free_rows_before(mcu_row);
    decode_to(std::min(mcu_row + 2, grid_.count.height));
  }
  output_.read_row(row);
  ++rows_;
}

// Returns when all scans have decoded this many rows of MCUs, and helps with it.
void JpegScanReader::decode_to(int mcu_rows) {
  while (true) {
    start_workers();
    Lock lock(mutex_);
    if (failure_) std::rethrow_exception(failure_);
    const auto last = std::ranges::min_element(
        scans_, [](const Scan& one, const Scan& other) { return one.done < other.done; });
    if (last->done >= mcu_rows) return;
    if (!decode_band(lock)) changed_.wait(lock);
  }
}

// The output is done with these rows. Scans may reuse their memory once this has returned.
void JpegScanReader::free_rows_before(int mcu_row) {
  for (int row = free_before_; row < mcu_row; ++row)
    coefficients_.clear(row);
  const Lock lock(mutex_);
  free_before_ = mcu_row;
  changed_.notify_all();
}

void JpegScanReader::start_workers() {
  for (Worker& worker : workers_) {
    {
      const Lock lock(mutex_);
      if (worker.busy) continue;
      if (!next_scan()) return;
      worker.busy = true;
    }
    worker.task.wait();
    worker.task.start([this, &worker] { work(worker); });
  }
}

void JpegScanReader::work(Worker& worker) {
  Lock lock(mutex_);
  while (!stopped_ && !failure_) {
    if (decode_band(lock)) continue;
    if (running_ == 0) break;  // only the output can free memory
    changed_.wait(lock);
  }
  worker.busy = false;
}

// Decodes a band of some scan. False if no scan can continue now.
bool JpegScanReader::decode_band(Lock& lock) {
  const auto index = next_scan();
  if (!index) return false;
  Scan& scan = scans_[*index];
  const int end = band_end(scan);
  scan.busy = true;
  ++running_;
  lock.unlock();
  std::exception_ptr failure;
  try {
    scan.decoder->decode(end - scan.done);
    if (end == grid_.count.height) scan.decoder->finish();
  } catch (...) {
    failure = std::current_exception();
  }
  lock.lock();
  --running_;
  scan.busy = false;
  if (failure) {
    failure_ = failure;
  } else {
    scan.done = end;
  }
  changed_.notify_all();
  return true;
}

// The scan that is furthest behind among those that can continue.
std::optional<std::size_t> JpegScanReader::next_scan() const {
  std::optional<std::size_t> next;
  for (std::size_t i = 0; i < scans_.size(); ++i) {
    if (next && scans_[*next].done <= scans_[i].done) continue;
    if (can_decode(i)) next = i;
  }
  return next;
}

bool JpegScanReader::can_decode(std::size_t index) const {
  const Scan& scan = scans_[index];
  if (scan.busy || scan.done == grid_.count.height) return false;
  const int end = band_end(scan);
  if (end > free_before_ + window_) return false;
  const auto& after = script_.scans[index].after;
  return std::ranges::all_of(after,
                             [&](std::size_t earlier) { return scans_[earlier].done >= end; });
}

int JpegScanReader::band_end(const Scan& scan) const {
  return std::min(scan.done + band_, grid_.count.height);
}

}  // namespace gpufilter
