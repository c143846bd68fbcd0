#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <vector>

#include "host/vectors.hpp"
#include "stages/resize/resize_vectors.hpp"

namespace gpufilter {
namespace {

using std::size_t;

struct ByteJob {
  ConstRows source;
  MutableRows target;
  const ResizeTaps* taps;
  const ResizeTables* tables;
};

// The result of one sample in each element of a vector: sums of neighbours times each part of their
// weights. Sums are exact, as they are modulo 2^32.
template <InstructionSet set>
class WeightedSum {
 public:
  using Ints = Vector<std::int32_t, set>;
  static constexpr int neighbours = has_fours<set> ? 4 : 2;
  static constexpr size_t parts = ResizeTaps::parts(neighbours);

  [[gnu::always_inline]] WeightedSum() : sums_{} {
    sums_[0] = everywhere<Ints>(1 << (ResizeTaps::weight_bits - 1));
  }

  // `samples`: four bytes or two 16-bit values in each element.
  [[gnu::always_inline]] void add(const Ints& samples, const std::uint32_t* weights) {
#pragma GCC unroll 3
    for (size_t part = 0; part < parts; ++part) {
      const auto numbers = everywhere<Ints>(static_cast<std::int32_t>(weights[part]));
      if constexpr (has_fours<set>) {
        sums_[part] = plus_fours<set>(sums_[part], samples, numbers);
      } else {
        sums_[part] =
            plus_pairs<set>(sums_[part], as<std::int16_t>(samples), as<std::int16_t>(numbers));
      }
    }
  }

  [[gnu::always_inline]] [[nodiscard]] Ints result() const {
    auto sum = as<std::uint32_t>(sums_[parts - 1]);
    for (size_t part = parts - 1; part-- > 0;)
      sum = (sum << (32 / neighbours)) + as<std::uint32_t>(sums_[part]);
    return as<std::int32_t>(sum) >> ResizeTaps::weight_bits;
  }

 private:
  Ints sums_[parts];
};

// Four results as bytes, in lanes those of the first, of the second and so on.
template <typename Ints>
[[gnu::always_inline]] inline Ints packed(const Ints* results) {
  return as<std::int32_t>(narrowed<std::uint8_t>(narrowed<std::int16_t>(results[0], results[1]),
                                                 narrowed<std::int16_t>(results[2], results[3])));
}

// Along rows: a row in each element of a vector.
template <InstructionSet set, size_t channels>
class BytesAlongRows {
 public:
  using Sum = WeightedSum<set>;
  using Ints = typename Sum::Ints;
  static constexpr int lines = count_of<Ints>;

  [[gnu::always_inline]] explicit BytesAlongRows(const ByteJob& job)
      : job_(job),
        taps_(*job.taps),
        weights_(job.tables->of(Sum::neighbours)),
        groups_(static_cast<size_t>(taps_.group_count(Sum::neighbours, true))),
        width_(static_cast<size_t>(job.target.width)) {
    const int scale = job.source.width / job.target.width + 1;
    const int most = std::max(block_pixels, int{step} * scale + taps_.count + Sum::neighbours);
    turned_.resize((static_cast<size_t>(most) / step + 3) * vectors_a_step);
    for (size_t line = 0; line < lines; ++line)
      end_of_line_[line] = ends_.data() + line * lane_bytes;
  }

  // Fills these rows, at most `lines`.
  [[gnu::always_inline]] void fill(const RowRange& rows) {
    for (int line = 0; line < lines; ++line) {
      const int y = std::min(rows.begin + line, rows.end - 1);
      in_[static_cast<size_t>(line)] = job_.source.row(y);
      out_[static_cast<size_t>(line)] = job_.target.row(y);
    }
    for (size_t x = 0; x < width_;) {
      const int begin = taps_.first[x] / Sum::neighbours * Sum::neighbours;
      size_t next = x + step;
      while (next < width_ && end_of(next + step) - begin <= block_pixels)
        next += step;
      turn(static_cast<size_t>(begin), static_cast<size_t>(end_of(next)));
      for (; x < next; x += step)
        put(x, static_cast<size_t>(begin));
    }
  }

 private:
  // Pixels whose results fill an element of each line: 4, 2 or 1.
  static constexpr size_t together = 4 / channels;
  // Pixels that fill a lane, or three quarters of it, and are read and written together.
  static constexpr size_t step = 4 * together;
  static constexpr size_t step_bytes = step * channels;
  static constexpr size_t vectors_a_step = step * channels / Sum::neighbours;
  // Pixels of the source that are turned at a time: they stay in the first-level cache.
  static constexpr int block_pixels = 256;

  // End of the source's pixels that the results before x need.
  [[nodiscard]] int end_of(size_t x) const {
    return taps_.first[std::min(x, width_) - 1] + taps_.count;
  }

  // The bytes of a lane of each element: four neighbours of the first channel, of the next and so
  // on, then the next four. For pairs, the first two are in the even bytes.
  static constexpr LanePlaces by_channel = [] {
    LanePlaces places{};
    for (size_t i = 0; i < places.size(); ++i) {
      const size_t four = i / 4 / channels;
      const size_t pixel = 4 * four + (has_fours<set> ? i % 4 : i % 2 * 2 + i % 4 / 2);
      const size_t place = pixel * channels + i / 4 % channels;
      places[i] = place < step_bytes ? static_cast<std::uint8_t>(place) : no_byte;
    }
    return places;
  }();
  [[gnu::always_inline]] static Ints sorted_by_channel(const Ints& pixels) {
    if constexpr (has_shuffle<set> || channels < 3) return shuffled<by_channel>(pixels);
    return halves_interleaved<std::uint16_t>(halves_interleaved<std::uint8_t>(pixels));
  }
  // Four lines of each of four samples become four samples of each line.
  [[gnu::always_inline]] static Ints sorted_by_line(const Ints& results) {
    constexpr LanePlaces by_line{0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15};
    if constexpr (has_shuffle<set>) return shuffled<by_line>(results);
    return halves_interleaved<std::uint8_t>(halves_interleaved<std::uint8_t>(results));
  }

  // The compiler does not align vectors that the baseline lacks.
  struct alignas(sizeof(Ints)) Place {
    Ints numbers;
  };

  // Lane i of vector n has the bytes of line 4 i + n; once transposed, number i those of line i.
  using Square = std::array<Ints, 4>;

  // The pixels begin ... end - 1 and what fills a step, into turned_: neighbours by neighbours,
  // channel by channel, a number for each line.
  [[gnu::always_inline]] void turn(size_t begin, size_t end) {
    Place* to = turned_.data();
    for (size_t x = begin; x < end; x += step) {
      Square square = read(x * channels);
      if constexpr (channels == 3 && !has_shuffle<set>) {
        transpose(square);
        to = put_pairs_of_rgb(square, to);
        continue;
      }
#pragma GCC unroll 4
      for (Ints& lanes : square)
        lanes = sorted_by_channel(lanes);
      transpose(square);
      constexpr size_t used = step_bytes / 4;
#pragma GCC unroll 4
      for (size_t n = 0; n < used; ++n) {
        if constexpr (has_fours<set>) {
          to++->numbers = square[n];
        } else {
          Place* const pairs = to + n / channels * 2 * channels + n % channels;
          pairs[0].numbers = square[n] & 0x00ff00ff;
          pairs[channels].numbers = as<std::int32_t>(as<std::uint16_t>(square[n]) >> 8);
        }
      }
      if constexpr (!has_fours<set>) to += 2 * used;
    }
  }

  // From each line's four pixels of RGB in three numbers.
  [[gnu::always_inline]] static Place* put_pairs_of_rgb(const Square& square, Place* to) {
    constexpr std::uint32_t low = 0xff;
    constexpr std::uint32_t high = 0xff0000;
    const auto a = as<std::uint32_t>(square[0]);
    const auto b = as<std::uint32_t>(square[1]);
    const auto c = as<std::uint32_t>(square[2]);
    const auto put = [&](const auto& pair) __attribute__((always_inline)) {
      to++->numbers = as<std::int32_t>(pair);
    };
    put((a & low) | (a >> 8 & high));
    put((a >> 8 & low) | (b << 16 & high));
    put((a >> 16 & low) | (b << 8 & high));
    put((b >> 16 & low) | (c << 8 & high));
    put(b >> 24 | (c & high));
    put((c & low) | (c >> 8 & high));
    return to;
  }

  [[gnu::always_inline]] Square read(size_t at) {
    // The hardware prefetcher cannot follow that many rows.
    constexpr size_t ahead = 512;
    for (size_t line = at / lane_bytes % 4; line < lines; line += 4)
      __builtin_prefetch(in_[line] + at + ahead);
    const std::uint8_t* const* from = in_.data();
    const size_t rest = job_.source.row_bytes() - at;
    if (rest < lane_bytes) {
      for (size_t line = 0; line < lines; ++line)
        std::memcpy(end_of_line_[line], in_[line] + at, rest);
      from = end_of_line_.data();
      at = 0;
    }
    Square square;
#pragma GCC unroll 4
    for (size_t n = 0; n < square.size(); ++n)
      square[n] = load_lanes<Ints>(from + n, square.size(), at);
    return square;
  }

  // A step of results from x on.
  [[gnu::always_inline]] void put(size_t x, size_t begin) {
    Square square;
#pragma GCC unroll 4
    for (size_t n = 0; n < square.size(); ++n)
      square[n] = sorted_by_line(results(x + n * together, begin));
    if constexpr (channels == 3) square = without_fourth_bytes(square);
    transpose(square);
    const size_t at = x * channels;
    const size_t rest = job_.target.row_bytes() - at;
    if (rest >= lane_bytes) return write(square, out_.data(), at);
    write(square, end_of_line_.data(), 0);
    for (size_t line = 0; line < lines; ++line)
      std::memcpy(out_[line] + at, end_of_line_[line], std::min(rest, step_bytes));
  }

  // Four pixels of each line, the fourth byte of each being 0, in three numbers.
  [[gnu::always_inline]] static Square without_fourth_bytes(const Square& pixels) {
    const auto first = as<std::uint32_t>(pixels[0]);
    const auto second = as<std::uint32_t>(pixels[1]);
    const auto third = as<std::uint32_t>(pixels[2]);
    const auto fourth = as<std::uint32_t>(pixels[3]);
    return {as<std::int32_t>(first | second << 24), as<std::int32_t>(second >> 8 | third << 16),
            as<std::int32_t>(third >> 16 | fourth << 8), Ints{}};
  }

  [[gnu::always_inline]] static void write(const Square& square, std::uint8_t* const* to,
                                           size_t at) {
#pragma GCC unroll 4
    for (size_t n = 0; n < square.size(); ++n)
      store_lanes(square[n], to + n, square.size(), at);
  }

  // `together` pixels of each line. If there are fewer, the last one is repeated.
  [[gnu::always_inline]] Ints results(size_t x, size_t begin) const {
    Ints all[4] = {};
#pragma GCC unroll 4
    for (size_t i = 0; i < together; ++i) {
      const size_t pixel = std::min(x + i, width_ - 1);
      const size_t group = (static_cast<size_t>(taps_.first[pixel]) - begin) / Sum::neighbours;
      const Place* from = turned_.data() + group * channels;
      const std::uint32_t* weights = weights_ + pixel * groups_ * Sum::parts;
      Sum sums[channels];
      for (size_t k = 0; k < groups_; ++k, from += channels, weights += Sum::parts) {
#pragma GCC unroll 4
        for (size_t c = 0; c < channels; ++c)
          sums[c].add(from[c].numbers, weights);
      }
#pragma GCC unroll 4
      for (size_t c = 0; c < channels; ++c)
        all[i * channels + c] = sums[c].result();
    }
    return packed(all);
  }

  const ByteJob& job_;
  const ResizeTaps& taps_;
  const std::uint32_t* weights_;
  size_t groups_;  // of neighbours, for each result
  size_t width_;
  std::array<const std::uint8_t*, lines> in_{};
  std::array<std::uint8_t*, lines> out_{};
  // A lane of each line, where a whole one would reach beyond the rows.
  std::array<std::uint8_t, lines * lane_bytes> ends_{};
  std::array<std::uint8_t*, lines> end_of_line_{};
  std::vector<Place> turned_;
};

template <size_t channels>
struct BytesAlongRowsLoop {
  static constexpr int minimum_rows = 4;  // fewer take longer transposed than one by one

  template <InstructionSet set>
  [[gnu::always_inline]] static void run(const ByteJob* job, int* done) {
    BytesAlongRows<set, channels> loop(*job);
    const RowRange rows = job->target.rows;
    int y = rows.begin;
    for (; rows.end - y >= minimum_rows; y = std::min(y + int{loop.lines}, rows.end))
      loop.fill({y, std::min(y + int{loop.lines}, rows.end)});
    *done = y - rows.begin;
  }
};

struct BytesAlongColumnsLoop {
  template <InstructionSet set>
  [[gnu::always_inline]] static void run(const ByteJob* job) {
    using Sum = WeightedSum<set>;
    const ResizeTaps& taps = *job->taps;
    const auto groups = static_cast<size_t>(taps.group_count(Sum::neighbours, false));
    const size_t samples = job->target.row_bytes();
    std::vector<const std::uint8_t*> rows(groups * Sum::neighbours);
    const std::uint32_t* weights = job->tables->of(Sum::neighbours);
    for (int y = job->target.rows.begin; y < job->target.rows.end; ++y) {
      // Rows beyond the taps have the weight 0.
      const int first = taps.first[static_cast<size_t>(y)];
      for (int k = 0; k < static_cast<int>(rows.size()); ++k)
        rows[static_cast<size_t>(k)] = job->source.row(first + std::min(k, taps.count - 1));
      const std::uint32_t* of_row = weights + static_cast<size_t>(y) * groups * Sum::parts;
      // The last vector ends with the row: it computes some samples again.
      constexpr size_t bytes = vector_bytes<set>;
      for (size_t i = 0;; i = std::min(i + bytes, samples - bytes)) {
        fill<set>(rows.data(), i, of_row, groups, job->target.row(y) + i);
        if (i + bytes == samples) break;
      }
    }
  }

  template <InstructionSet set>
  [[gnu::always_inline]] static void fill(const std::uint8_t* const* rows, size_t i,
                                          const std::uint32_t* weights, size_t groups,
                                          std::uint8_t* out) {
    using Sum = WeightedSum<set>;
    Sum sums[4];
    for (size_t k = 0; k < groups; ++k, rows += Sum::neighbours, weights += Sum::parts) {
      const auto samples = neighbours_at<set>(rows, i);
#pragma GCC unroll 4
      for (size_t n = 0; n < samples.size(); ++n)
        sums[n].add(samples[n], weights);
    }
    const typename Sum::Ints results[] = {sums[0].result(), sums[1].result(), sums[2].result(),
                                          sums[3].result()};
    store(out, packed(results));
  }

  // Result lanes: the first quarter, the second and so on.
  template <InstructionSet set>
  [[gnu::always_inline]] static std::array<Vector<std::int32_t, set>, 4> neighbours_at(
      const std::uint8_t* const* rows, size_t i) {
    using Bytes = Vector<std::uint8_t, set>;
    // Four bytes, or two and zeros between them.
    using Between = std::conditional_t<has_fours<set>, std::uint16_t, std::uint8_t>;
    const auto a = load<Bytes>(rows[0] + i);
    const auto b = load<Bytes>(rows[1] + i);
    Bytes low{};
    Bytes high{};
    if constexpr (has_fours<set>) {
      const auto c = load<Bytes>(rows[2] + i);
      const auto d = load<Bytes>(rows[3] + i);
      low = interleaved_low(c, d);
      high = interleaved_high(c, d);
    }
    const auto begin = as<Between>(interleaved_low(a, b));
    const auto end = as<Between>(interleaved_high(a, b));
    const auto numbers = [](const auto& v) __attribute__((always_inline)) {
      return as<std::int32_t>(v);
    };
    return {numbers(interleaved_low(begin, as<Between>(low))),
            numbers(interleaved_high(begin, as<Between>(low))),
            numbers(interleaved_low(end, as<Between>(high))),
            numbers(interleaved_high(end, as<Between>(high)))};
  }
};

}  // namespace

int resize_bytes_along_rows(const ConstRows& source, const MutableRows& target,
                            const ResizeTaps& taps, const ResizeTables& tables) {
  const ByteJob job{source, target, &taps, &tables};
  int done = 0;
  switch (source.format.channels) {
    case 1:
      run_products_loop<BytesAlongRowsLoop<1>>(&job, &done);
      break;
    case 2:
      run_products_loop<BytesAlongRowsLoop<2>>(&job, &done);
      break;
    case 3:
      run_products_loop<BytesAlongRowsLoop<3>>(&job, &done);
      break;
    default:
      run_products_loop<BytesAlongRowsLoop<4>>(&job, &done);
  }
  return done;
}

bool resize_bytes_along_columns(const ConstRows& source, const MutableRows& target,
                                const ResizeTaps& taps, const ResizeTables& tables) {
  constexpr size_t largest_vector = 64;
  if (target.row_bytes() < largest_vector) return false;
  const ByteJob job{source, target, &taps, &tables};
  run_products_loop<BytesAlongColumnsLoop>(&job);
  return true;
}

}  // namespace gpufilter
