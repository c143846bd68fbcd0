#include "codec/png/write/smallest.hpp"

#include <algorithm>
#include <utility>

#include "codec/png/write/pixel_writer.hpp"

namespace gpufilter {
namespace {

constexpr int highest_level = 9;
constexpr int level_of_trials = 8;

// The storages that are compressed at the highest level: up to so many, as long as the trials make
// them larger than the best by at most 1 / close_storages. All of them if a picture as it is has at
// most small_picture bytes.
constexpr std::size_t finalists = 2;
constexpr std::size_t close_storages = 20;
constexpr std::size_t small_picture = std::size_t{64} << 10U;

constexpr std::size_t chunk_overhead = 12;  // bytes: length, type and checksum

std::size_t chunk_bytes(std::size_t data) {
  return data == 0 ? 0 : data + chunk_overhead;
}

PngEncoded encode(PngHeldPicture& picture, ImageSize size, const PngStorage& storage, int level) {
  PngEncoded encoded{storage};
  encoded.bytes =
      chunk_bytes(storage.palette().size()) + chunk_bytes(storage.transparency().size());
  PngPixelWriter writer(size, storage, level, [&encoded](PngPixelWriter::IdatParts parts) {
    Bytes& idat = encoded.idats.emplace_back();
    for (const auto& part : parts)
      idat.insert(idat.end(), part.begin(), part.end());
    encoded.bytes += chunk_bytes(idat.size());
  });
  encoded.rows_a_piece = writer.rows_a_piece();
  for (int y = 0; y < size.height; ++y)
    writer.write_row(picture.row(y, storage));
  writer.finish();
  return encoded;
}

}  // namespace

PngEncoded smallest_png(PngHeldPicture& picture, ImageSize size) {
  struct Trial {
    PngStorage storage;
    std::size_t bytes;
  };
  std::vector<Trial> trials;
  for (const PngStorage& storage : picture.storages())
    trials.push_back({storage, 0});
  const bool is_small =
      trials.front().storage.row_bytes(size.width) * static_cast<std::size_t>(size.height) <=
      small_picture;
  if (!is_small && trials.size() > 1) {
    for (Trial& trial : trials)
      trial.bytes = encode(picture, size, trial.storage, level_of_trials).bytes;
    std::stable_sort(trials.begin(), trials.end(),
                     [](const Trial& a, const Trial& b) { return a.bytes < b.bytes; });
    const std::size_t most = trials.front().bytes + trials.front().bytes / close_storages;
    while (trials.size() > finalists || trials.back().bytes > most)
      trials.pop_back();
  }
  PngEncoded best = encode(picture, size, trials.front().storage, highest_level);
  for (std::size_t i = 1; i < trials.size(); ++i) {
    PngEncoded other = encode(picture, size, trials[i].storage, highest_level);
    if (other.bytes < best.bytes) best = std::move(other);
  }
  return best;
}

}  // namespace gpufilter
