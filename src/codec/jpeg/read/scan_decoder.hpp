// One scan of a file of several, decoded without the others.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "codec/jpeg/read/coefficients.hpp"
#include "codec/jpeg/read/decompressor.hpp"
#include "codec/jpeg/read/input.hpp"
#include "codec/jpeg/read/row_decoder.hpp"
#include "codec/jpeg/write/scan_script.hpp"

namespace gpufilter {

// Decodes a scan into coefficients that it shares with other scans. All functions throw
// PictureError for every warning of libjpeg, even a harmless one.
class JpegScanDecoder {
 public:
  // Scan `index` of the file whose header `whole` has read; `data` is the rest of the file. `data`
  // and `coefficients` outlive the decoder.
  JpegScanDecoder(const JpegRowDecoder& whole, const JpegScanScript& script, std::size_t index,
                  std::span<const JOCTET> data, JpegCoefficients& coefficients);
  JpegScanDecoder(const JpegScanDecoder&) = delete;
  JpegScanDecoder& operator=(const JpegScanDecoder&) = delete;

  // Decodes the next `count` rows of MCUs. All scans that this one comes after must have decoded
  // them already.
  void decode(int count);

  // After the last row: checks that the data end there.
  void finish();

 private:
  std::size_t read(std::span<JOCTET> buffer);

  std::span<const JOCTET> data_;  // of this scan and of what follows it
  std::size_t end_;               // of this scan
  std::size_t at_ = 0;
  JpegErrors errors_;
  JpegInput input_;
  std::vector<JOCTET> header_;  // and the first bytes of the scan
  Decompressor jpeg_;
};

}  // namespace gpufilter
