#include "codec/jpeg/read/group_reader.hpp"

#include <algorithm>
#include <cstring>
#include <exception>
#include <utility>

namespace gpufilter {
namespace {

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

struct JpegGroupReader::Group {
  Group(const std::string& name, Background& background) : decoder(name), task(background) {}

  RestartLayout::Group part;
  bool last = false;
  bool here = false;  // decoded in the caller's thread, directly into the caller's rows
  std::vector<std::uint8_t> encoded;
  std::size_t given = 0;  // bytes of `encoded`
  JpegRowDecoder decoder;
  std::vector<std::uint8_t> rows;
  int decoded = 0;             // of them
  std::exception_ptr failure;  // why there are no more
  int taken = 0;               // rows
  BackgroundTask task;         // destroyed first: it uses the others
};

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
      threads_(share.of_threads(background_.threads())),
      max_groups_(std::clamp<std::size_t>(
          max_memory / memory_of(static_cast<std::size_t>(layout.group(0).yielded) * row_bytes_), 2,
          groups_for(background_.threads()))) {}

JpegGroupReader::~JpegGroupReader() = default;

void JpegGroupReader::read_row(std::uint8_t* row) {
  if (running_.empty()) start_groups();
  if (running_.empty()) {
    if (std::exchange(skip_in_rest_, false)) rest_->read_row(row);
    return rest_->read_row(row);
  }
  Group& group = *running_.front();
  if (group.here) {
    if (group.taken == 0) begin(group, row);
    group.decoder.read_row(row);
  } else {
    if (group.taken == 0) group.task.wait();
    if (group.taken == group.decoded) std::rethrow_exception(group.failure);
    std::memcpy(row, group.rows.data() + static_cast<std::size_t>(group.taken) * row_bytes_,
                row_bytes_);
  }
  if (++group.taken < group.part.yielded) return;
  if (group.here) end(group);
  if (group.failure) failure_ = group.failure;
  spare_.push_back(std::move(running_.front()));
  running_.pop_front();
  start_groups();
}

void JpegGroupReader::finish() {
  if (failure_) std::rethrow_exception(failure_);
  if (rest_) rest_->finish();
}

void JpegGroupReader::start_groups() {
  while (running_.size() < share_.of(max_groups_) && start_next()) {
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
  running_.push_back(take_group());
  Group& group = *running_.back();
  group.part = part;
  group.last = started_ == layout_.groups();
  const auto encoded = intervals_.bytes(part.first_interval, part.end_interval);
  group.encoded.assign(encoded.begin(), encoded.end());
  intervals_.drop_before(part.next_interval);
  group.here = here;
  if (!here) group.task.start([this, &group] { decode(group); });
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

std::unique_ptr<JpegGroupReader::Group> JpegGroupReader::take_group() {
  if (spare_.empty()) return std::make_unique<Group>(name_, background_);
  std::unique_ptr<Group> group = std::move(spare_.back());
  spare_.pop_back();
  group->decoded = 0;
  group->taken = 0;
  return group;
}

}  // namespace gpufilter
