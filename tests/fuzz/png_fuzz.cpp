// Our reader of PNG pixels beside libpng's, on files changed at random.
#include <array>
#include <exception>
#include <string>
#include <utility>
#include <vector>

#include "fuzz/mutate.hpp"
#include "support/pictures.hpp"
#include "support/png_in_memory.hpp"
#include "support/png_pieces.hpp"

namespace gpufilter::test {
namespace {

// Gradients with noise, so that there are matches as well as literals.
Image seed_image(ImageSize size, const PixelFormat& format) {
  Image image = random_image(size, format, 3);
  for (const auto [x, y, c] : each_sample(size, format.channels)) {
    const auto noise = y % 16 < 8 ? sample_at(image, x, y, c) % 7 : 0U;
    set_sample(image, x, y, c,
               (static_cast<std::uint32_t>(3 * x + y) + noise) & format.max_sample());
  }
  return image;
}

Bytes our_file(ImageSize size, const PixelFormat& format, int level) {
  PngSettings settings;
  settings.options.set(png_level_option(), std::to_string(level));
  settings.metadata.text = {{"Title", "fuzz", "", ""}};
  return encode_png(seed_image(size, format), settings);
}

Bytes in_pieces(ImageSize size, const PixelFormat& format, int rows_a_piece, PieceEnd end,
                int level) {
  const Bytes rows = random_filtered_rows(
      size, format, [](int y) { return (y + y / 7) % 5; }, 4);
  const std::size_t row_size = rows.size() / static_cast<std::size_t>(size.height);
  return file_of_pieces(
      size, format, {index_part(static_cast<std::uint32_t>(rows_a_piece))},
      deflated_pieces(rows, static_cast<std::size_t>(rows_a_piece) * row_size, end, level));
}

std::vector<Bytes> seeds() {
  constexpr std::array<PixelFormat, 8> formats{
      {{1, 8}, {2, 8}, {3, 8}, {4, 8}, {1, 16}, {2, 16}, {3, 16}, {4, 16}}};
  std::vector<Bytes> files;
  for (std::size_t i = 0; i < formats.size(); ++i) {
    const auto number = static_cast<int>(i);
    const PixelFormat& format = formats.at(i);
    files.push_back(our_file({31, 17}, format, number + 1));
    for (const PieceEnd end : {PieceEnd::full_flush, PieceEnd::sync_flush})
      files.push_back(in_pieces({19 + number, 60}, format, 7 + number, end, number + 1));
    files.push_back(in_pieces({1500, 40}, format, 5, PieceEnd::full_flush, 9 - number));
  }
  files.push_back(in_pieces({23, 50}, {3, 8}, 5, PieceEnd::full_flush, 0));
  files.push_back(our_file({1201, 300}, {3, 8}, 1));
  return files;
}

// Chunks are changed inside and moved about; their checksums are then mostly right.
void mutate_chunks(Bytes& file, const Bytes& other, Mutator& mutator) {
  std::vector<PngPart> parts = split_png(file);
  const std::vector<PngPart> others = split_png(other);
  if (parts.empty() || others.empty()) return mutator.change(file, other);
  for (std::size_t left = 1 + mutator.below(3); left > 0; --left) {
    PngPart& part = parts.at(mutator.below(parts.size()));
    const PngPart& another = others.at(mutator.below(others.size()));
    const auto place = static_cast<std::ptrdiff_t>(mutator.below(parts.size() + 1));
    switch (mutator.below(12)) {
      case 0:
        parts.insert(parts.begin() + place, another);
        break;
      case 1: {
        PngPart repeated = part;
        parts.insert(parts.begin() + place, std::move(repeated));
        break;
      }
      case 2: {  // in two
        const std::size_t kept = mutator.below(part.data.size() + 1);
        PngPart rest = part;
        rest.data.erase(rest.data.begin(), rest.data.begin() + static_cast<std::ptrdiff_t>(kept));
        part.data.resize(kept);
        const auto at = &part - parts.data();
        parts.insert(parts.begin() + at + 1, std::move(rest));
        break;
      }
      case 3:
        std::swap(part, parts.at(mutator.below(parts.size())));
        break;
      case 4:
        part.damaged = true;
        break;
      case 5:
        if (parts.size() > 1) parts.erase(parts.begin() + (&part - parts.data()));
        break;
      default:
        if (part.type != "IHDR" || mutator.one_in(4)) mutator.change(part.data, another.data);
    }
  }
  file = join_png(parts);
}

// No picture becomes large: a changed header could ask for a gigabyte.
bool is_small(const Bytes& file) {
  if (file.size() < 24) return true;
  const auto number = [&](std::size_t at) {
    return file[at] << 24U | file[at + 1] << 16U | file[at + 2] << 8U | file[at + 3];
  };
  constexpr int longest = 4000;
  return number(16) >= 0 && number(16) < longest && number(20) >= 0 && number(20) < longest;
}

void mutate(Bytes& file, const Bytes& other, Mutator& mutator) {
  const Bytes before = file;
  if (mutator.one_in(4)) {
    for (std::size_t left = 1 + mutator.below(4); left > 0; --left)
      mutator.change(file, other);
  } else {
    mutate_chunks(file, other, mutator);
  }
  if (!is_small(file)) file = before;
}

// zlib's opinion of the pixels' stream in one piece.
bool zlib_inflates_the_pixels(const Bytes& file) {
  try {
    (void)decode_png(file);
    return true;
  } catch (const std::exception&) {
    return false;
  }
}

// Both are described in docs/engineering/png.md and shown by
// tests/codec/png/reader_test.cpp.
bool is_known_difference(const Bytes& file) {
  const PngOutcome ours = decode(file, PngDecoder::automatic);
  const PngOutcome judged = decode(file, PngDecoder::libpng);
  if (ours.image) return judged.refusal.ends_with(" set");
  return judged.image && !zlib_inflates_the_pixels(file) &&
         (ours.refusal.ends_with("incorrect data check") ||
          ours.refusal.ends_with("Not enough image data") ||
          ours.refusal.ends_with("Too much image data"));
}

std::string check(const Bytes& file) {
  const auto same = index_changes_nothing(file);
  if (!same) return same.message();
  const auto agree = both_agree(file);
  return agree || is_known_difference(file) ? "" : agree.message();
}

}  // namespace
}  // namespace gpufilter::test

int main(int argc, char** argv) {
  using namespace gpufilter::test;
  return fuzz(argc, argv, {{"png", seeds(), mutate, check}});
}
