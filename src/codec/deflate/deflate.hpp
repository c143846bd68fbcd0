// Deflate (RFC 1951) with a search that suits drawings.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

namespace gpufilter {

struct DeflateHints {
  std::size_t unit =
      4;  // bytes: most matches are no shorter; 3 where pixels of 3 repeat themselves
  std::span<const std::size_t> likely = {};  // distances of matches
};

// Deflates piece after piece in tables that it keeps. On what repeats itself it is faster than zlib
// at equal sizes; on photographs ISA-L is several times faster than both.
class Deflater {
 public:
  Deflater();
  ~Deflater();
  Deflater(const Deflater&) = delete;
  Deflater& operator=(const Deflater&) = delete;

  // Deflates `data` (below 2 GiB) into `deflated`, without reference to what came before, up to a
  // whole byte; returns how many bytes it takes, bound(data.size()) at most. `last`: the stream
  // ends here. Matches are looked for at the likely distances, and at other places, on average
  // `effort` of them for every four bytes at most; 0: the bytes are stored as they are.
  std::size_t deflate(std::span<const std::uint8_t> data, const DeflateHints& hints, int effort,
                      bool last, std::uint8_t* deflated);

  // So much has to be there for what `size` bytes become; the end may be written over.
  [[nodiscard]] static constexpr std::size_t bound(std::size_t size) {
    return size + size / 1024 + 64;
  }

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace gpufilter
