#include "support/jpeg_scan_reading.hpp"

#include <gtest/gtest.h>

#include "base/threads.hpp"
#include "codec/jpeg/read/scan_reader.hpp"
#include "support/jpeg_outcomes.hpp"

namespace gpufilter::test {
namespace {

// Without the codec's way out, which is to begin again with one decoder.
Bytes decode_side_by_side(const Bytes& jpeg, std::size_t threads) {
  const ThreadLimit limit(threads);
  OpenedScans file(jpeg);
  const jpeg_decompress_struct& header = file.decoder.jpeg();
  JpegScanReader reader(file.decoder, file.script.value(), file.input->bytes(), threads);
  const std::size_t pitch =
      std::size_t{header.image_width} * (header.out_color_space == JCS_GRAYSCALE ? 1U : 3U);
  Bytes samples(pitch * header.image_height);
  for (std::size_t at = 0; at < samples.size(); at += pitch)
    reader.read_row(samples.data() + at);
  return samples;
}

}  // namespace

OpenedScans::OpenedScans(const Bytes& jpeg, std::size_t max_bytes)
    : source(memory_source(jpeg, "some.jpg")), decoder("some.jpg") {
  decoder.open([this](std::span<JOCTET> buffer) { return source->read(buffer); }, limits);
  decoder.choose_colors();
  input.emplace(*source, decoder.input().unread());
  if (JpegScanReader::is_worthwhile(decoder.jpeg())) {
    script = find_scans(decoder.jpeg(), *input, max_bytes);
  }
}

void expect_scans_agree(const Bytes& jpeg, bool divided) {
  const DetailedLog detailed;
  ASSERT_EQ(OpenedScans(jpeg).script.has_value(), divided);
  EXPECT_TRUE(threads_agree(jpeg));
  if (!divided) return;
  const Bytes expected = decode_by_threads(jpeg, 1).samples;
  for (const std::size_t threads : {1U, 2U, 5U})
    EXPECT_TRUE(decode_side_by_side(jpeg, threads) == expected) << threads << " threads";
}

void expect_scans_as_libjpeg(const Bytes& jpeg, bool divided) {
  expect_scans_agree(jpeg, divided);
  EXPECT_TRUE(decode_by_threads(jpeg, 2).samples == decode_with_libjpeg(jpeg).samples);
}

ScanPlaces scan_places(const Bytes& jpeg) {
  ScanPlaces places;
  for (std::size_t at = scan_data_begin(jpeg); at + 1 < jpeg.size(); ++at) {
    const std::uint8_t code = jpeg[at + 1];
    if (jpeg[at] != 0xFF || code == 0 || is_restart(code)) continue;
    places.ends.push_back(at);
    while (at + 3 < jpeg.size() && jpeg[at + 1] != 0xD9) {
      const bool is_scan = jpeg[at + 1] == 0xDA;
      if (is_scan) places.headers.push_back(at);
      at += 2 + (std::size_t{jpeg[at + 2]} << 8U) + jpeg[at + 3];
      if (is_scan) break;
    }
  }
  return places;
}

int refused_of_changed(const Bytes& jpeg, int files, std::uint32_t seed) {
  const DetailedLog detailed;
  int refused = 0;
  std::uint32_t state = seed;
  const std::size_t begin = scan_data_begin(jpeg);
  for (int round = 0; round < files; ++round) {
    Bytes damaged = jpeg;
    for (int i = 0; i <= round % 3; ++i) {
      state = state * 1664525U + 1013904223U;
      const std::size_t at = begin + (state >> 4U) % (jpeg.size() - begin);
      damaged[at] = static_cast<std::uint8_t>(state >> 24U);
    }
    EXPECT_TRUE(threads_agree(damaged)) << "round " << round;
    if (!decode_by_threads(damaged, 2).refusal.empty()) ++refused;
  }
  return refused;
}

}  // namespace gpufilter::test
