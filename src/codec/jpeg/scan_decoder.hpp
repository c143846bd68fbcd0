// One scan of a progressive file, decoded without the others.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "codec/jpeg/coefficients.hpp"
#include "codec/jpeg/decompressor.hpp"
#include "codec/jpeg/input.hpp"
#include "codec/jpeg/scan_script.hpp"

namespace gpufilter {

// Adds what the scan says to coefficients that other scans share. All functions throw PictureError
// for whatever libjpeg has to say, even if it is harmless.
class JpegScanDecoder {
 public:
  // The scan number `index` of the file whose header `whole` has read, with its entropy-coded
  // `data`. All that is passed by reference outlives the decoder.
  JpegScanDecoder(const Decompressor& whole, const std::string& name, const JpegScanScript& script,
                  std::size_t index, std::span<const JOCTET> data, JpegCoefficients& coefficients);
  JpegScanDecoder(const JpegScanDecoder&) = delete;
  JpegScanDecoder& operator=(const JpegScanDecoder&) = delete;

  // Decodes the next `count` rows of MCUs. All scans that this one comes after must have decoded
  // them already.
  void decode(int count);

  // After the last row: checks that the data end there.
  void finish();

 private:
  std::size_t read(std::span<JOCTET> buffer);

  std::span<const JOCTET> data_;  // what is left of it
  bool ended_ = false;
  JpegErrors errors_;
  JpegInput input_;
  std::vector<JOCTET> header_;
  Decompressor jpeg_;
};

}  // namespace gpufilter
