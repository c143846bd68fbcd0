#include "codec/jpeg/read/group_reader.hpp"

#include <algorithm>
#include <cstring>
#include <exception>
#include <numeric>
#include <utility>

namespace gpufilter {
namespace {

// Starting a smaller group costs more than it saves. Larger ones do not fit the caches, but that
// costs less than decoding many rows of MCUs twice.
constexpr std::int64_t min_pixels = std::int64_t{64} << 10U;
constexpr std::int64_t max_pixels = std::int64_t{384} << 10U;
constexpr std::int64_t max_pixels_with_overlap = std::int64_t{768} << 10U;

bool is_cut_into_intervals(const jpeg_decompress_struct& jpeg) {
  return jpeg.restart_interval > 0 && jpeg.arith_code == FALSE && !has_several_scans(jpeg) &&
         holds_all_coefficients(current_scan(jpeg));
}

bool interpolates_rows(const jpeg_decompress_struct& jpeg) {
  return std::any_of(jpeg.comp_info, jpeg.comp_info + jpeg.num_components,
                     [&](const jpeg_component_info& component) {
                       return component.v_samp_factor != jpeg.max_v_samp_factor;
                     });
}

// A group holds its rows and its part of the file.
constexpr std::size_t memory_of(std::size_t row_bytes) {
  return row_bytes + row_bytes / 2;
}

// More groups than threads, so that no thread waits until earlier rows have been taken.
constexpr std::size_t groups_for(std::size_t threads) {
  return threads + 2;
}

// Far more than encoders write. Without a limit, padding could fill the memory.
constexpr std::size_t max_encoded(std::size_t row_bytes) {
  return 2 * row_bytes + (std::size_t{64} << 10U);
}

}  // namespace

int RestartLayout::groups() const {
  return (grid.count.height + mcu_rows_a_group - 1) / mcu_rows_a_group;
}

std::uint64_t RestartLayout::intervals() const {
  return (grid.count.pixels() + mcus_an_interval - 1) / mcus_an_interval;
}

RestartLayout::Group RestartLayout::group(int index) const {
  const auto interval_of = [&](int mcu_row) {
    const std::uint64_t mcus =
        static_cast<std::uint64_t>(mcu_row) * static_cast<unsigned>(grid.count.width);
    return (mcus + mcus_an_interval - 1) / mcus_an_interval;
  };
  const int begin = index * mcu_rows_a_group;
  const int next = std::min(begin + mcu_rows_a_group, grid.count.height);
  const int end = overlaps ? std::min(next + 1, grid.count.height) : next;
  Group group;
  group.first_interval = interval_of(begin);
  group.next_interval = interval_of(next);
  group.end_interval = interval_of(end);
  group.first_row = begin * grid.mcu.height;
  group.rows = std::min(end * grid.mcu.height, picture_height) - group.first_row;
  group.skipped = overlaps && begin > 0 ? 1 : 0;
  const int yielded_end =
      next < grid.count.height ? next * grid.mcu.height + (overlaps ? 1 : 0) : picture_height;
  group.yielded = yielded_end - group.first_row - group.skipped;
  return group;
}

std::optional<RestartLayout> restart_layout(const jpeg_decompress_struct& jpeg, std::size_t threads,
                                            std::size_t group_memory) {
  if (threads < 2 || !is_cut_into_intervals(jpeg)) return std::nullopt;
  RestartLayout layout{mcu_grid(jpeg), static_cast<int>(jpeg.image_height), jpeg.restart_interval,
                       0, interpolates_rows(jpeg)};
  const McuGrid& grid = layout.grid;
  // After this many rows of MCUs, an interval and a row begin together.
  const std::uint64_t period =
      layout.mcus_an_interval /
      std::gcd(layout.mcus_an_interval, static_cast<std::uint64_t>(grid.count.width));
  if (2 * period > static_cast<std::uint64_t>(grid.count.height)) return std::nullopt;
  const std::int64_t period_pixels = static_cast<std::int64_t>(period) * grid.pixels_a_row();
  // Every thread gets several groups, but fewer if each costs an additional row of MCUs.
  const std::int64_t shares = static_cast<std::int64_t>(threads) * (layout.overlaps ? 2 : 4);
  const auto fitting = static_cast<std::int64_t>(group_memory / 3);
  const std::int64_t largest = layout.overlaps ? max_pixels_with_overlap : max_pixels;
  const std::int64_t pixels = std::clamp(grid.count.height * grid.pixels_a_row() / shares,
                                         min_pixels, std::clamp(fitting, min_pixels, largest));
  const std::int64_t periods =
      std::max<std::int64_t>((pixels + period_pixels / 2) / period_pixels, 1);
  if (periods * period_pixels > std::max(fitting, 2 * max_pixels_with_overlap)) return std::nullopt;
  layout.mcu_rows_a_group = static_cast<int>(periods * static_cast<std::int64_t>(period));
  return layout.groups() < 2 ? std::nullopt : std::optional(layout);
}

RestartIntervals::RestartIntervals(ByteSource& source, std::span<const std::uint8_t> read,
                                   std::uint64_t count)
    : input_(source, read), count_(count) {}

bool RestartIntervals::reach(std::uint64_t end, std::size_t max_bytes) {
  while (!failed_ && first_ + begins_.size() - 1 < end) {
    if (!find_next()) failed_ = input_.bytes().size() > max_bytes || !input_.read_more();
  }
  return !failed_;
}

// Looks for the marker that ends the interval; false if it has not been read yet.
bool RestartIntervals::find_next() {
  const std::uint64_t index = first_ + begins_.size() - 1;
  const std::span<const std::uint8_t> bytes = input_.bytes();
  while ((scanned_ = next_ff(bytes, scanned_)) < bytes.size()) {
    // Any number of such bytes may precede a marker.
    const auto code = std::find_if(bytes.begin() + static_cast<std::ptrdiff_t>(scanned_),
                                   bytes.end(), [](std::uint8_t byte) { return byte != 0xFF; });
    if (code == bytes.end()) return false;
    scanned_ = static_cast<std::size_t>(code - bytes.begin()) + 1;
    if (*code == 0) continue;  // an 0xFF of the data
    const auto due = index + 1 == count_ ? std::uint64_t{JPEG_EOI} : JPEG_RST0 + index % 8;
    failed_ = *code != due;
    begins_.push_back(scanned_);
    return true;
  }
  return false;
}

std::size_t RestartIntervals::place_of(std::uint64_t interval) const {
  return begins_.at(static_cast<std::size_t>(interval - first_));
}

std::span<const std::uint8_t> RestartIntervals::bytes(std::uint64_t begin,
                                                      std::uint64_t end) const {
  return input_.bytes().subspan(place_of(begin), place_of(end) - place_of(begin));
}

void RestartIntervals::drop_before(std::uint64_t interval) {
  const std::size_t dropped = place_of(interval);
  input_.drop(dropped);
  scanned_ -= dropped;
  begins_.erase(begins_.begin(), begins_.begin() + static_cast<std::ptrdiff_t>(interval - first_));
  for (std::size_t& begin : begins_)
    begin -= dropped;
  first_ = interval;
}

std::size_t JpegGroupReader::group_memory(std::size_t threads) {
  return max_memory / groups_for(threads) * 2 / 3;
}

JpegGroupReader::JpegGroupReader(const RestartLayout& layout, JpegRowDecoder& whole,
                                 ByteSource& source, const FairShare& share)
    : layout_(layout),
      whole_(whole),
      name_(source.name()),
      row_bytes_(whole.jpeg().image_width * (layout.grid.blocks == 1 ? 1U : 3U)),
      intervals_(source, whole.input().unread(), layout.intervals()),
      share_(share),
      threads_(share.of_threads(groups_.threads())),
      max_groups_(std::clamp<std::size_t>(
          max_memory / memory_of(static_cast<std::size_t>(layout.group(0).yielded) * row_bytes_), 2,
          groups_for(groups_.threads()))) {}

void JpegGroupReader::read_row(std::uint8_t* row) {
  if (groups_.pending().empty()) start_groups();
  if (groups_.pending().empty()) {
    if (std::exchange(skip_in_rest_, false)) rest_->read_row(row);
    return rest_->read_row(row);
  }
  Group& group = groups_.first();
  if (group.here) {
    if (group.taken == 0) begin(group, row);
    group.decoder.read_row(row);
  } else {
    if (group.taken == 0) groups_.wait_for_first();
    if (group.taken == group.decoded) std::rethrow_exception(group.failure);
    std::memcpy(row, group.rows.data() + static_cast<std::size_t>(group.taken) * row_bytes_,
                row_bytes_);
  }
  if (++group.taken < group.part.yielded) return;
  if (group.here) end(group);
  if (group.failure) failure_ = group.failure;
  groups_.put(groups_.take_first());
  start_groups();
}

void JpegGroupReader::finish() {
  if (failure_) std::rethrow_exception(failure_);
  if (rest_) rest_->finish();
}

void JpegGroupReader::start_groups() {
  while (groups_.pending().size() < share_.of(max_groups_) && start_next()) {
  }
}

bool JpegGroupReader::start_next() {
  if (rest_ || started_ == layout_.groups()) return false;
  const RestartLayout::Group part = layout_.group(started_);
  const std::size_t bytes = static_cast<std::size_t>(part.rows) * row_bytes_;
  if (!intervals_.reach(part.end_interval, max_encoded(bytes))) {
    begin_rest(part);
    return false;
  }
  const bool here = static_cast<std::size_t>(started_) % threads_ == 0;
  ++started_;
  Group& group = groups_.add(groups_.take(name_));
  group.part = part;
  group.decoded = group.taken = 0;
  group.last = started_ == layout_.groups();
  const auto encoded = intervals_.bytes(part.first_interval, part.end_interval);
  group.encoded.assign(encoded.begin(), encoded.end());
  intervals_.drop_before(part.next_interval);
  group.here = here;
  if (!here) groups_.start_last([this, &group] { decode(group); });
  return true;
}

JpegPlace JpegGroupReader::place_of(const RestartLayout::Group& part) const {
  return {part.first_interval, layout_.intervals() - 1 - part.first_interval};
}

void JpegGroupReader::begin(Group& group, std::uint8_t* skipped_row) const {
  group.given = 0;
  const auto read = [&group](std::span<JOCTET> buffer) {
    const std::size_t count = std::min(buffer.size(), group.encoded.size() - group.given);
    std::memcpy(buffer.data(), group.encoded.data() + group.given, count);
    group.given += count;
    return count;
  };
  group.decoder.open_part(whole_, read, place_of(group.part), group.part.rows);
  for (int i = 0; i < group.part.skipped; ++i)
    group.decoder.read_row(skipped_row);
}

void JpegGroupReader::decode(Group& group) const {
  group.rows.resize(static_cast<std::size_t>(group.part.yielded) * row_bytes_);
  std::uint8_t* row = group.rows.data();
  try {
    begin(group, row);
    for (; group.decoded < group.part.yielded; ++group.decoded, row += row_bytes_)
      group.decoder.read_row(row);
    end(group);
  } catch (...) {
    group.failure = std::current_exception();
  }
}

// A failure is one behind the rows.
void JpegGroupReader::end(Group& group) {
  if (!group.last) return group.decoder.abandon();
  try {
    group.decoder.finish();
  } catch (...) {
    group.failure = std::current_exception();
  }
}

void JpegGroupReader::begin_rest(const RestartLayout::Group& part) {
  rest_ = std::make_unique<JpegRowDecoder>(name_);
  skip_in_rest_ = part.skipped > 0;
  rest_->open_part(
      whole_, [this](std::span<JOCTET> buffer) { return intervals_.read_on(buffer); },
      place_of(part), layout_.picture_height - part.first_row);
}

}  // namespace gpufilter
