// The rows of a JPEG with restart markers, decoded by all threads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "base/background.hpp"
#include "codec/byte_source.hpp"
#include "codec/jpeg/fair_share.hpp"
#include "codec/jpeg/restart_intervals.hpp"
#include "codec/jpeg/restart_layout.hpp"
#include "codec/jpeg/row_decoder.hpp"

namespace gpufilter {

// Decodes groups of restart intervals, of every few one in the caller's thread and the others in
// the background, and yields their rows in their order: the samples that libjpeg makes of the file
// from top to bottom. So are the refusals. A group that libjpeg warns about is refused with that
// warning, once the rows before it were taken. Where the markers are not those that are due, one
// decoder goes on alone from the group in question.
class JpegGroupReader {
 public:
  // What the groups under way may take, their rows and their part of the file, in all pictures
  // together; but each may have two.
  static constexpr std::size_t max_memory = std::size_t{48} << 20U;
  // What the rows of one may take, for restart_layout().
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
  std::size_t max_groups_;                      // under way at a time, in all pictures
  int started_ = 0;                             // groups
  std::deque<std::unique_ptr<Group>> running_;  // in their order
  std::vector<std::unique_ptr<Group>> spare_;
  std::unique_ptr<JpegRowDecoder> rest_;  // behind the groups
  bool skip_in_rest_ = false;             // its first row
};

}  // namespace gpufilter
