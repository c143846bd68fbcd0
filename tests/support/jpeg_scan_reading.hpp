// JPEG files of several scans, read side by side and one scan after the other.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "codec/byte_source.hpp"
#include "codec/jpeg/read/input.hpp"
#include "codec/jpeg/read/row_decoder.hpp"
#include "codec/jpeg/read/scan_reader.hpp"
#include "codec/jpeg/read/scans.hpp"
#include "support/jpeg.hpp"

namespace gpufilter::test {

// A file whose header was read, and its scans where they are to be decoded side by side.
struct OpenedScans {
  explicit OpenedScans(const Bytes& jpeg, std::size_t max_bytes = std::size_t{1} << 30U);

  std::unique_ptr<ByteSource> source;
  ScanLimits limits;
  JpegRowDecoder decoder;
  std::optional<JpegReadAhead> input;
  std::optional<JpegScanScript> script;
};

// Expects the same samples, refusal and detailed log from one thread and from several, and that
// the file is divided into its scans or is not.
void expect_scans_agree(const Bytes& jpeg, bool divided = true);

// Expects the scans to be read so, with the samples of libjpeg alone.
void expect_scans_as_libjpeg(const Bytes& jpeg, bool divided = true);

// Where the markers are that follow the data of a scan, and where the headers are of all scans but
// the first.
struct ScanPlaces {
  std::vector<std::size_t> ends;
  std::vector<std::size_t> headers;
};
[[nodiscard]] ScanPlaces scan_places(const Bytes& jpeg);

// Expects threads to agree on files with one to three random bytes in the data of their scans, and
// returns how many of these files are refused.
[[nodiscard]] int refused_of_changed(const Bytes& jpeg, int files, std::uint32_t seed);

}  // namespace gpufilter::test
