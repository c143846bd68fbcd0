// The readers of PNG pixels side by side: libpng is the judge.
#pragma once

#include <optional>
#include <string>

#include <gtest/gtest.h>

#include "codec/png/codec.hpp"
#include "image/image.hpp"

namespace gpufilter::test {

// What a decoder makes of a file, called "in.png": samples, or a refusal.
struct PngOutcome {
  std::optional<Image> image;
  std::string refusal;
};

[[nodiscard]] PngOutcome decode(const Bytes& file, PngDecoder decoder, int rows_a_time = 7);

// Both accept `file` with the same samples, or both refuse it.
[[nodiscard]] ::testing::AssertionResult both_agree(const Bytes& file);

[[nodiscard]] bool is_accepted(const Bytes& file);

// The file is read as if it had no index: the same samples, or the same refusal.
[[nodiscard]] ::testing::AssertionResult index_changes_nothing(const Bytes& file);

// Both of the above.
[[nodiscard]] ::testing::AssertionResult is_read_alike(const Bytes& file);

// How many rows the reader of pieces yields before it gives up; they have to be those of `image`.
// -1: the file has no index that it would use.
[[nodiscard]] int rows_by_pieces(const Bytes& file, const Image& image);

}  // namespace gpufilter::test
