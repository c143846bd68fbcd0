// Compares the readers of PNG pixels; libpng is the reference.
#pragma once

#include <optional>
#include <string>

#include <gtest/gtest.h>

#include "codec/png/codec.hpp"
#include "image/image.hpp"

namespace gpufilter::test {

// A decoder's result for a file, called "in.png": samples, or a refusal.
struct PngOutcome {
  std::optional<Image> image;
  std::string refusal;
};

[[nodiscard]] PngOutcome decode(const Bytes& file, PngDecoder decoder, int rows_a_time = 7);

// Checks that both readers accept `file` with the same samples, or both refuse it.
[[nodiscard]] ::testing::AssertionResult both_agree(const Bytes& file);

[[nodiscard]] bool is_accepted(const Bytes& file);

// Checks that the file gives the same samples, or the same refusal, as without its index.
[[nodiscard]] ::testing::AssertionResult index_changes_nothing(const Bytes& file);

// Both checks.
[[nodiscard]] ::testing::AssertionResult is_read_alike(const Bytes& file);

// How many rows the piece reader yields before it gives up; they have to equal those of `image`.
// -1: the file has no usable index.
[[nodiscard]] int rows_by_pieces(const Bytes& file, const Image& image);

}  // namespace gpufilter::test
