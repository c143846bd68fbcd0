// The entropy-coded data of a JPEG with restart markers, encoded by all threads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/background.hpp"
#include "codec/jpeg/read/fair_share.hpp"
#include "codec/jpeg/write/encoding.hpp"
#include "image/jpeg_coding.hpp"
#include "image/rows.hpp"

namespace gpufilter {

// Divides a picture into strips, encodes them and emits them in order, with restart markers between
// them and an end marker after the last one. So the file does not depend on the threads, on their
// timing, or on how many rows write() gets at a time. If another thread is free, the rows of a
// strip are copied for it; otherwise they are encoded at once.
class JpegStripWriter {
 public:
  using Emit = std::function<void(std::span<const std::uint8_t>)>;

  // `name` is the picture's name in messages. write() and finish() call `emit` in the caller's
  // thread.
  JpegStripWriter(std::string name, const JpegPicture& picture, int rows_a_strip, Emit emit);
  ~JpegStripWriter();
  JpegStripWriter(const JpegStripWriter&) = delete;
  JpegStripWriter& operator=(const JpegStripWriter&) = delete;

  // Takes the next rows, which are no longer needed when it returns. Throws what `emit` throws,
  // and std::bad_alloc.
  void write(const ConstRows& rows);

  // The same for the data of whole strips, instead of their rows: sets the markers in them.
  void write_coded(const CodedRows& rows);

  // Call once, after the picture's last row: returns when everything has been emitted. Throws as
  // write() does.
  void finish();

  [[nodiscard]] int rows_left() const { return rows_left_; }

 private:
  struct Strip;

  void add_row(const std::uint8_t* row);
  void start(std::unique_ptr<Strip> strip);
  void emit_first();
  [[nodiscard]] bool has_thread_left() const;
  // The marker after the next strip.
  [[nodiscard]] std::uint8_t next_marker(bool is_last);
  static void encode(Strip& strip);
  [[nodiscard]] std::unique_ptr<Strip> take_strip();

  std::string name_;
  JpegPicture picture_;
  std::size_t row_bytes_;
  int rows_left_;  // until the last one was taken
  int rows_a_strip_;
  Emit emit_;
  Background background_;
  FairShare share_;
  std::size_t max_strips_;  // in the background at a time, in all pictures; limits memory
  std::deque<std::unique_ptr<Strip>> running_;  // in order
  std::vector<std::unique_ptr<Strip>> spare_;
  std::unique_ptr<Strip> filling_;
  unsigned emitted_ = 0;
};

}  // namespace gpufilter
