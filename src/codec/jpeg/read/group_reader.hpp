// The rows of a JPEG with restart markers, decoded by all threads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/background.hpp"
#include "codec/byte_source.hpp"
#include "codec/jpeg/library.hpp"
#include "codec/jpeg/read/decompressor.hpp"
#include "codec/jpeg/read/row_decoder.hpp"

namespace gpufilter {

// Groups consist of whole rows of MCUs and begin with a restart interval. Where chroma is
// interpolated between rows, a pixel row at the edge of a row of MCUs needs a row of chroma from
// beyond the edge. A group is therefore decoded together with the row of MCUs below it, and also
// yields the first pixel row of that one. Its own first pixel row is yielded by the group above.
struct RestartLayout {
  McuGrid grid;
  int picture_height;
  std::uint64_t mcus_an_interval;
  int mcu_rows_a_group;  // the last group may have fewer
  bool overlaps;         // whether chroma is interpolated between rows

  struct Group {
    std::uint64_t first_interval = 0;
    std::uint64_t next_interval = 0;  // the first one of the next group
    std::uint64_t end_interval = 0;   // after the last one that is decoded
    int first_row = 0;                // in pixels, as are all rows here
    int rows = 0;                     // that are decoded
    int skipped = 0;                  // of these, at the top
    int yielded = 0;                  // after those
  };
  [[nodiscard]] Group group(int index) const;
  [[nodiscard]] int groups() const;
  [[nodiscard]] std::uint64_t intervals() const;
};

// Nothing if one thread has to decode the picture from top to bottom (no restart markers, several
// scans, arithmetic coding, restart intervals that rarely end with a row), if it is too small, or
// if there is only one thread. The rows of a group may take `group_memory` bytes. Call after the
// header was read.
[[nodiscard]] std::optional<RestartLayout> restart_layout(const jpeg_decompress_struct& jpeg,
                                                          std::size_t threads,
                                                          std::size_t group_memory);

class RestartIntervals {
 public:
  // `read` has the first bytes of the scan; `source`, which outlives this object, yields the rest.
  // `count` intervals are expected.
  RestartIntervals(ByteSource& source, std::span<const std::uint8_t> read, std::uint64_t count);

  // Reads until all intervals before `end` are complete. Returns false and reads no more if an
  // interval does not end with the expected restart marker (the last one: the end marker), the file
  // ends, or more than `max_bytes` would be kept.
  [[nodiscard]] bool reach(std::uint64_t end, std::size_t max_bytes);

  // The bytes of the intervals from `begin`, which must not have been dropped, to `end`, which must
  // have been reached.
  [[nodiscard]] std::span<const std::uint8_t> bytes(std::uint64_t begin, std::uint64_t end) const;

  // Drops everything before this interval.
  void drop_before(std::uint64_t interval);

  // For a single decoder that takes over at the first interval that was not dropped: yields what
  // was read and then the rest of `source`. Throws what the source throws.
  std::size_t read_on(std::span<std::uint8_t> buffer) { return input_.read_on(buffer); }

 private:
  [[nodiscard]] std::size_t place_of(std::uint64_t interval) const;
  [[nodiscard]] bool find_next();

  JpegReadAhead input_;
  std::uint64_t count_;
  std::uint64_t first_ = 0;  // the first interval that is kept
  // Positions in input_ of that interval and of those found after it.
  std::deque<std::size_t> begins_{0};
  std::size_t scanned_ = 0;  // bytes of input_ already searched for markers
  bool failed_ = false;
};

// Decodes groups of restart intervals, some in the caller's thread and others in the background,
// and yields their rows in order. Samples and errors equal libjpeg's when it decodes the file from
// top to bottom. If libjpeg warns about a group, the file is refused with that warning after the
// rows above the group have been taken. If a marker is not the expected one, a single decoder
// continues from that group.
class JpegGroupReader {
 public:
  // Bytes for the groups in progress in all pictures together, their rows and their parts of the
  // file. Each picture may have two groups in any case.
  static constexpr std::size_t max_memory = std::size_t{48} << 20U;
  // Bytes for the rows of one group, for restart_layout().
  [[nodiscard]] static std::size_t group_memory(std::size_t threads);

  // `whole` has read the file's header from `source`. All outlive the reader.
  JpegGroupReader(const RestartLayout& layout, JpegRowDecoder& whole, ByteSource& source,
                  const FairShare& share);

  // Both throw like JpegRowDecoder's functions.
  void read_row(std::uint8_t* row);
  void finish();

  // After finish(): whether the file ended before its end marker.
  [[nodiscard]] bool lacks_end_marker() const { return rest_ && rest_->lacks_end_marker(); }

 private:
  struct Group {
    explicit Group(const std::string& name) : decoder(name) {}

    RestartLayout::Group part = {};
    bool last = false;
    bool here = false;  // decoded in the caller's thread, directly into the caller's rows
    std::vector<std::uint8_t> encoded = {};
    std::size_t given = 0;  // bytes of `encoded`
    JpegRowDecoder decoder;
    std::vector<std::uint8_t> rows = {};
    int decoded = 0;                       // of them
    std::exception_ptr failure = nullptr;  // why there are no more
    int taken = 0;                         // rows
  };

  void start_groups();
  [[nodiscard]] bool start_next();
  [[nodiscard]] JpegPlace place_of(const RestartLayout::Group& part) const;
  void begin(Group& group, std::uint8_t* skipped_row) const;
  void decode(Group& group) const;
  static void end(Group& group);
  void begin_rest(const RestartLayout::Group& part);

  RestartLayout layout_;
  const JpegRowDecoder& whole_;
  std::string name_;
  std::size_t row_bytes_;
  RestartIntervals intervals_;
  OrderedPieces<Group> groups_;
  const FairShare& share_;
  std::size_t threads_;
  std::size_t max_groups_;                // in progress at a time, in all pictures
  int started_ = 0;                       // groups
  std::unique_ptr<JpegRowDecoder> rest_;  // below the groups
  bool skip_in_rest_ = false;             // its first row
  std::exception_ptr failure_;            // behind the rows
};

}  // namespace gpufilter
