#include "support/png_decoding.hpp"

#include <algorithm>

#include "base/error.hpp"
#include "support/pictures.hpp"
#include "support/png_pieces.hpp"

namespace gpufilter::test {

PngOutcome decode(const Bytes& file, PngDecoder decoder, int rows_a_time) {
  PngOutcome outcome;
  try {
    ReadLimits quiet;
    quiet.warn = false;
    const auto reader = open_png(memory_source(file, "in.png"), quiet, decoder);
    outcome.image = poisoned_image(reader->header().size, reader->header().format);
    const int height = reader->header().size.height;
    for (int y = 0; y < height; y += rows_a_time)
      reader->read(outcome.image->rows().part({y, std::min(y + rows_a_time, height)}));
    (void)reader->finish();
  } catch (const PictureError& error) {
    outcome.image.reset();
    outcome.refusal = error.what();
  }
  return outcome;
}

::testing::AssertionResult both_agree(const Bytes& file) {
  const PngOutcome ours = decode(file, PngDecoder::automatic);
  const PngOutcome judged = decode(file, PngDecoder::libpng);
  if (ours.image.has_value() != judged.image.has_value()) {
    return ::testing::AssertionFailure()
           << (ours.image ? "accepted" : ours.refusal)
           << ", while libpng: " << (judged.image ? "accepted" : judged.refusal);
  }
  if (!ours.image) return ::testing::AssertionSuccess();
  return same_pixels(*ours.image, *judged.image);
}

bool is_accepted(const Bytes& file) {
  return decode(file, PngDecoder::automatic).image.has_value();
}

::testing::AssertionResult index_changes_nothing(const Bytes& file) {
  const PngOutcome with = decode(file, PngDecoder::automatic);
  const PngOutcome without = decode(without_index(file), PngDecoder::automatic);
  if (with.refusal != without.refusal) {
    return ::testing::AssertionFailure()
           << "\"" << with.refusal << "\" with the index, \"" << without.refusal << "\" without";
  }
  if (!with.image) return ::testing::AssertionSuccess();
  return same_pixels(*with.image, *without.image);
}

}  // namespace gpufilter::test
