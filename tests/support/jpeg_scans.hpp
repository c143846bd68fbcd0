// JPEG files of several scans: in usual and odd orders, read side by side and one scan after the
// other, by one thread and by several.
#pragma once

#include "base/log.hpp"
#include "codec/byte_source.hpp"
#include "codec/jpeg/read/decompressor.hpp"
#include "codec/jpeg/read/row_decoder.hpp"
#include "codec/jpeg/read/scan_reader.hpp"
#include "support/jpeg.hpp"

namespace gpufilter::test {

// Samples or a refusal, and what was logged meanwhile.
struct JpegOutcome {
  Bytes samples;
  std::string refusal;
  std::string log;
  friend bool operator==(const JpegOutcome&, const JpegOutcome&) = default;
};

// While it lives, what libjpeg says of harmless damage is logged as well.
class DetailedLog {
 public:
  DetailedLog() { log::set_level(log::Level::debug); }
  ~DetailedLog() { log::set_level(before_); }
  DetailedLog(const DetailedLog&) = delete;
  DetailedLog& operator=(const DetailedLog&) = delete;

 private:
  log::Level before_ = log::level();
};

inline const ReadLimits outcome_limits{.max_pixels = 4'000'000};

[[nodiscard]] JpegOutcome decode_by_threads(const Bytes& jpeg, std::size_t threads,
                                            const ReadLimits& limits = outcome_limits);

// Whether two and three threads agree with one.
[[nodiscard]] ::testing::AssertionResult threads_agree(const Bytes& jpeg,
                                                       const ReadLimits& limits = outcome_limits);

// `jpeg` with `inserted` at a place, and without the bytes from `begin` to `end`.
[[nodiscard]] Bytes with_bytes(const Bytes& jpeg, std::size_t at, const Bytes& inserted);
[[nodiscard]] Bytes without_bytes(const Bytes& jpeg, std::size_t begin, std::size_t end);

using ScanScript = std::vector<jpeg_scan_info>;

// A scan of a component: coefficients, then the bits before and after.
[[nodiscard]] jpeg_scan_info scan_of(int component, int first, int last, int high, int low);

[[nodiscard]] jpeg_scan_info scan_of_all(int high, int low);

[[nodiscard]] ScanScript spectral_selection();

// Bit by bit, as deep as libjpeg allows.
[[nodiscard]] ScanScript deep_approximation();

// Bands of the first approximation that later ones cross.
[[nodiscard]] ScanScript crossing_bands();

[[nodiscard]] ScanScript components_apart();

// Every coefficient in a scan of its own: too many decoders at a time.
[[nodiscard]] ScanScript endless();

// Without the last bits, which libjpeg makes up for by smoothing.
[[nodiscard]] ScanScript incomplete();

// For sequential files: all coefficients of one component, and of two, which are in order.
[[nodiscard]] jpeg_scan_info whole_scan_of(int component);
[[nodiscard]] jpeg_scan_info whole_scan_of(int first, int second);

// A textured picture.
[[nodiscard]] Bytes encode_textured(const JpegRecipe& recipe, int width, int height,
                                    int channels = 3);

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
