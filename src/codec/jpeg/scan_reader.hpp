// The rows of a progressive JPEG, whose scans are decoded side by side by all threads.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "base/background.hpp"
#include "codec/jpeg/coefficients.hpp"
#include "codec/jpeg/mcu_grid.hpp"
#include "codec/jpeg/row_decoder.hpp"
#include "codec/jpeg/scan_decoder.hpp"
#include "codec/jpeg/scan_script.hpp"

namespace gpufilter {

// Every scan has a decoder of its own. They go down the picture together, a band of rows of MCUs at
// a time, each behind the scans that it depends on, and the output follows them. So threads work on
// different scans, rows come out before the file is decoded, and only the coefficients of a few
// bands are in memory.
class JpegScanReader {
 public:
  // Whether the picture is large enough.
  [[nodiscard]] static bool is_worthwhile(const jpeg_decompress_struct& jpeg);

  // `whole` has read the file's header, `data` is what follows that, up to the end; both outlive
  // the reader. Takes `threads`, the caller's among them. Throws PictureError.
  JpegScanReader(const JpegRowDecoder& whole, JpegScanScript script, std::span<const JOCTET> data,
                 std::size_t threads);
  ~JpegScanReader();
  JpegScanReader(const JpegScanReader&) = delete;
  JpegScanReader& operator=(const JpegScanReader&) = delete;

  // Decodes the next row. Throws PictureError where libjpeg has anything to say about a scan, which
  // may differ from what it says about the whole file. Scans end before the last row is yielded.
  void read_row(std::uint8_t* row);

  [[nodiscard]] int rows_read() const { return rows_; }

 private:
  struct Scan {
    std::unique_ptr<JpegScanDecoder> decoder;
    int done = 0;  // rows of MCUs
    bool busy = false;
  };
  struct Worker {
    explicit Worker(Background& background) : task(background) {}
    bool busy = false;
    BackgroundTask task;
  };
  using Lock = std::unique_lock<std::mutex>;

  void decode_to(int mcu_rows);
  void free_rows_before(int mcu_row);
  void start_workers();
  void work(Worker& worker);
  bool decode_band(Lock& lock);
  [[nodiscard]] std::optional<std::size_t> next_scan() const;
  [[nodiscard]] bool can_decode(std::size_t scan) const;
  [[nodiscard]] int band_end(const Scan& scan) const;

  JpegScanScript script_;
  McuGrid grid_;
  int band_;    // rows of MCUs
  int window_;  // rows of MCUs whose coefficients are in memory
  JpegCoefficients coefficients_;
  JpegRowDecoder output_;
  int rows_ = 0;  // that were yielded

  std::mutex mutex_;  // of all that follows
  std::condition_variable changed_;
  std::vector<Scan> scans_;
  int free_before_ = 0;  // the first row of MCUs that the output still needs
  int running_ = 0;      // scans being decoded
  bool stopped_ = false;
  std::exception_ptr failure_;

  Background background_;
  std::deque<Worker> workers_;  // goes first: they use the rest
};

}  // namespace gpufilter
