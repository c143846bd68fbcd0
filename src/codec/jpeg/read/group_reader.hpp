// The rows of a JPEG with restart markers, decoded by all threads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "base/background.hpp"
#include "codec/byte_source.hpp"
#include "codec/jpeg/read/fair_share.hpp"
#include "codec/jpeg/read/restart_intervals.hpp"
#include "codec/jpeg/read/restart_layout.hpp"
#include "codec/jpeg/read/row_decoder.hpp"

namespace gpufilter {

// Decodes groups of restart intervals, some of them in the caller's thread and the others in the
// background, and yields their rows in order. Samples and refusals are those of libjpeg decoding
// the file from top to bottom. If libjpeg warns about a group, the file is refused with that
// warning after the rows above the group have been taken. If a marker is not the expected one, a
// single decoder continues from that group.
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
  ~JpegGroupReader();
  JpegGroupReader(const JpegGroupReader&) = delete;
  JpegGroupReader& operator=(const JpegGroupReader&) = delete;

  // Both throw what JpegRowDecoder's functions throw.
  void read_row(std::uint8_t* row);
  void finish();

  // After finish(): whether the file ended before its end marker.
  [[nodiscard]] bool lacks_end_marker() const { return rest_ && rest_->lacks_end_marker(); }

 private:
  struct Group;

  void start_groups();
  [[nodiscard]] bool start_next();
  [[nodiscard]] JpegPlace place_of(const RestartLayout::Group& part) const;
  void begin(Group& group, std::uint8_t* skipped_row) const;
  void decode(Group& group) const;
  static void end(Group& group);
  void begin_rest(const RestartLayout::Group& part);
  [[nodiscard]] std::unique_ptr<Group> take_group();

  RestartLayout layout_;
  const JpegRowDecoder& whole_;
  std::string name_;
  std::size_t row_bytes_;
  RestartIntervals intervals_;
  Background background_;
  const FairShare& share_;
  std::size_t threads_;
  std::size_t max_groups_;                      // in progress at a time, in all pictures
  int started_ = 0;                             // groups
  std::deque<std::unique_ptr<Group>> running_;  // in order
  std::vector<std::unique_ptr<Group>> spare_;
  std::unique_ptr<JpegRowDecoder> rest_;  // below the groups
  bool skip_in_rest_ = false;             // its first row
  std::exception_ptr failure_;            // behind the rows
};

}  // namespace gpufilter
