// The rows of a JPEG of several scans, which threads decode in parallel.
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
#include "codec/jpeg/library.hpp"
#include "codec/jpeg/read/decompressor.hpp"
#include "codec/jpeg/read/row_decoder.hpp"

namespace gpufilter {

// The scans of a multi-scan file, located without decoding them.
struct JpegScanScript {
  struct Scan {
    JpegScanHeader header;
    std::size_t tables = 0;  // bytes of `tables` that come before it
    std::size_t begin = 0;   // its data, in what was read
    std::size_t end = 0;
    // The scans before it that work on the same coefficients, or on the DC coefficients of its
    // component.
    std::vector<std::size_t> after;
  };
  std::vector<Scan> scans;
  // The segments between scans: Huffman tables and restart intervals.
  std::vector<JOCTET> tables;
};

// Reads the rest of a file whose header `whole` has read; `input` begins with the data of the first
// scan. Returns nothing if all is in one scan, if the file is incomplete or so unusual that libjpeg
// might warn about it or decode it differently as a whole, and if more than `max_bytes` would be
// kept.
[[nodiscard]] std::optional<JpegScanScript> find_scans(const jpeg_decompress_struct& whole,
                                                       JpegReadAhead& input, std::size_t max_bytes);

class JpegScanDecoder;

// Every scan has its own decoder. These advance through the picture together, band by band, each
// after the scans that it depends on, and the output follows them. So different threads decode
// different scans, the first rows are ready before the whole file is decoded, and only the
// coefficients of a few bands are in memory.
class JpegScanReader {
 public:
  // Whether the picture is large enough.
  [[nodiscard]] static bool is_worthwhile(const jpeg_decompress_struct& jpeg);

  // `whole` has read the file's header, and `data` is the rest of the file; both outlive the
  // reader. Uses up to `threads` threads, including the caller's. Throws PictureError.
  JpegScanReader(const JpegRowDecoder& whole, JpegScanScript script, std::span<const JOCTET> data,
                 std::size_t threads);
  ~JpegScanReader();

  // Decodes the next row. Throws PictureError for every warning of libjpeg about a scan, which may
  // differ from what libjpeg reports about the whole file. All scans have been checked to their
  // ends before the last row is yielded.
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

  std::mutex mutex_;  // guards what follows
  std::condition_variable changed_;
  std::vector<Scan> scans_;
  int free_before_ = 0;  // the first row of MCUs that the output still needs
  int running_ = 0;      // scans being decoded
  bool stopped_ = false;
  std::exception_ptr failure_;

  Background background_;
  std::deque<Worker> workers_;  // destroyed first: they use the others
};

}  // namespace gpufilter
