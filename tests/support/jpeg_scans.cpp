#include "support/jpeg_scans.hpp"

#include "base/threads.hpp"

namespace gpufilter::test {
namespace {

std::string described(const JpegOutcome& outcome) {
  return (outcome.refusal.empty() ? "accepted" : outcome.refusal) + " [" + outcome.log + "]";
}

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

JpegOutcome decode_by_threads(const Bytes& jpeg, std::size_t threads, const ReadLimits& limits) {
  const ThreadLimit limit(threads);
  JpegOutcome outcome;
  ::testing::internal::CaptureStderr();
  try {
    outcome.samples = decode_with_codec(jpeg, limits).samples;
  } catch (const PictureError& error) {
    outcome.refusal = error.what();
  }
  outcome.log = ::testing::internal::GetCapturedStderr();
  return outcome;
}

::testing::AssertionResult threads_agree(const Bytes& jpeg, const ReadLimits& limits) {
  const JpegOutcome expected = decode_by_threads(jpeg, 1, limits);
  for (const std::size_t threads : {2U, 3U}) {
    const JpegOutcome outcome = decode_by_threads(jpeg, threads, limits);
    if (outcome == expected) continue;
    return ::testing::AssertionFailure()
           << threads << " threads: " << described(outcome) << ", one: " << described(expected);
  }
  return ::testing::AssertionSuccess();
}

Bytes with_bytes(const Bytes& jpeg, std::size_t at, const Bytes& inserted) {
  Bytes changed = jpeg;
  changed.insert(changed.begin() + static_cast<std::ptrdiff_t>(at), inserted.begin(),
                 inserted.end());
  return changed;
}

Bytes without_bytes(const Bytes& jpeg, std::size_t begin, std::size_t end) {
  Bytes changed = jpeg;
  changed.erase(changed.begin() + static_cast<std::ptrdiff_t>(begin),
                changed.begin() + static_cast<std::ptrdiff_t>(end));
  return changed;
}

jpeg_scan_info scan_of(int component, int first, int last, int high, int low) {
  return {1, {component, 0, 0, 0}, first, last, high, low};
}

jpeg_scan_info scan_of_all(int high, int low) {
  return {3, {0, 1, 2, 0}, 0, 0, high, low};
}

ScanScript spectral_selection() {
  ScanScript script{scan_of_all(0, 0)};
  for (const int component : {2, 0, 1}) {
    script.push_back(scan_of(component, 1, 5, 0, 0));
    script.push_back(scan_of(component, 6, 20, 0, 0));
    script.push_back(scan_of(component, 21, 63, 0, 0));
  }
  return script;
}

ScanScript deep_approximation() {
  ScanScript script{scan_of_all(0, 10)};
  for (int component = 0; component < 3; ++component)
    script.push_back(scan_of(component, 1, 63, 0, 10));
  for (int bit = 10; bit > 0; --bit) {
    for (int component = 2; component >= 0; --component)
      script.push_back(scan_of(component, 1, 63, bit, bit - 1));
    script.push_back(scan_of_all(bit, bit - 1));
  }
  return script;
}

ScanScript crossing_bands() {
  ScanScript script{scan_of_all(0, 1)};
  for (int component = 0; component < 3; ++component) {
    script.push_back(scan_of(component, 1, 9, 0, 2));
    script.push_back(scan_of(component, 10, 40, 0, 2));
    script.push_back(scan_of(component, 41, 63, 0, 1));
    script.push_back(scan_of(component, 5, 40, 2, 1));
    script.push_back(scan_of(component, 1, 4, 2, 1));
    script.push_back(scan_of(component, 1, 63, 1, 0));
  }
  script.push_back(scan_of_all(1, 0));
  return script;
}

ScanScript components_apart() {
  ScanScript script;
  for (const int component : {1, 2, 0}) {
    script.push_back(scan_of(component, 0, 0, 0, 1));
    script.push_back(scan_of(component, 1, 63, 0, 1));
    script.push_back(scan_of(component, 1, 63, 1, 0));
    script.push_back(scan_of(component, 0, 0, 1, 0));
  }
  return script;
}

ScanScript endless() {
  ScanScript script{scan_of_all(0, 0)};
  for (int i = 1; i < 64; ++i) {
    for (int component = 0; component < 3; ++component)
      script.push_back(scan_of(component, i, i, 0, 0));
  }
  return script;
}

ScanScript incomplete() {
  ScanScript script{scan_of_all(0, 0)};
  for (int component = 0; component < 3; ++component)
    script.push_back(scan_of(component, 1, 63, 0, 2));
  return script;
}

jpeg_scan_info whole_scan_of(int component) {
  return {1, {component, 0, 0, 0}, 0, 63, 0, 0};
}

jpeg_scan_info whole_scan_of(int first, int second) {
  return {2, {first, second, 0, 0}, 0, 63, 0, 0};
}

Bytes encode_textured(const JpegRecipe& recipe, int width, int height, int channels) {
  return encode_with_libjpeg(textured_raster(width, height, channels), recipe);
}

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
