#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <vector>

#include "host/vectors.hpp"
#include "image/sample_arithmetic.hpp"
#include "stage/point_rows.hpp"
#include "stages/expression/program.hpp"

namespace gpufilter {
namespace {

using std::size_t;

// Pixels that go through the whole program while in the first-level cache.
constexpr size_t block_pixels = 256;

// One value of each pixel of a block.
struct alignas(64) Plane {
  std::array<float, block_pixels> at{};
};

// An operation whose values are in planes; one that is no longer needed is used again.
struct PlaneOperation {
  PixelOperation operation;
  std::array<int, 4> from{};
  int to = 0;
};

struct PlaneProgram {
  std::vector<PlaneOperation> operations;  // all but the numbers, whose planes stay
  std::vector<Plane> planes;
  std::array<int, 4> results{};
  const float* table = nullptr;
  float max = 1;  // the largest sample
  bool keeps_alpha = true;
};

class PlaneAllocator {
 public:
  explicit PlaneAllocator(const PixelProgram& program)
      : program_(program), places_(program.operations.size()), last_uses_(places_.size()) {
    for (size_t i = 0; i < places_.size(); ++i) {
      for (size_t k = 0; k < operand_count(program.operations[i].what); ++k)
        last_uses_[index(program.operations[i].from[k])] = i;
    }
    for (const int result : program.results) {
      if (result >= 0) last_uses_[index(result)] = places_.size();
    }
  }

  PlaneProgram run() {
    for (size_t i = 0; i < places_.size(); ++i)
      place(i);
    result_.planes.resize(index(count_));
    for (size_t i = 0; i < places_.size(); ++i) {
      if (program_.operations[i].what == PixelOperator::number)
        result_.planes[index(places_[i])].at.fill(program_.operations[i].number);
    }
    for (size_t c = 0; c < 4; ++c)
      result_.results[c] = program_.results[c] < 0 ? -1 : places_[index(program_.results[c])];
    result_.table = program_.table.data();
    result_.max = static_cast<float>(program_.source.max_sample());
    result_.keeps_alpha = program_.results[3] < 0;
    return std::move(result_);
  }

 private:
  static size_t index(int place) { return static_cast<size_t>(place); }

  void place(size_t i) {
    const PixelOperation& operation = program_.operations[i];
    PlaneOperation placed{operation};
    for (size_t k = 0; k < operand_count(operation.what); ++k) {
      const size_t from = index(operation.from[k]);
      placed.from[k] = places_[from];
      if (last_uses_[from] != i || program_.operations[from].what == PixelOperator::number)
        continue;
      free_.push_back(places_[from]);
      last_uses_[from] = places_.size();  // an operation may use it twice
    }
    if (free_.empty() || operation.what == PixelOperator::number) {
      places_[i] = count_++;
    } else {
      places_[i] = free_.back();
      free_.pop_back();
    }
    placed.to = places_[i];
    if (operation.what != PixelOperator::number) result_.operations.push_back(placed);
  }

  const PixelProgram& program_;
  std::vector<int> places_;        // the plane of each operation
  std::vector<size_t> last_uses_;  // the last operation that needs it
  std::vector<int> free_;
  int count_ = 0;
  PlaneProgram result_;
};

template <typename Sample, typename Read>
[[gnu::always_inline]] inline void load_samples(const Sample* rgba, size_t count, float factor,
                                                float* to, const Read& read) {
  for (size_t i = 0; i < count; ++i)
    to[i] = static_cast<float>(read(Pixel<Sample, 4>::read(rgba + 4 * i))) * factor;
}

// to = function(operands), vector by vector.
template <InstructionSet set, size_t operands, typename Function>
[[gnu::always_inline]] inline void compute(const PlaneOperation& operation, Plane* planes,
                                           size_t count, const Function& function) {
  using Floats = Vector<float, set>;
  std::array<const float*, operands> from;
  for (size_t k = 0; k < operands; ++k)
    from[k] = planes[operation.from[k]].at.data();
  float* to = planes[operation.to].at.data();
  for (size_t i = 0; i < count; i += count_of<Floats>) {
    std::array<Floats, operands> x;
    for (size_t k = 0; k < operands; ++k)
      x[k] = load<Floats>(from[k] + i);
    store(to + i, static_cast<Floats>(function(x)));
  }
}

template <InstructionSet set>
[[gnu::always_inline]] inline void look_up_plane(const PlaneOperation& operation, Plane* planes,
                                                 size_t count, const float* table) {
  using Floats = Vector<float, set>;
  alignas(64) std::array<std::int32_t, block_pixels> indices;
  const float* from = planes[operation.from[0]].at.data();
  const auto last = everywhere<Floats>(operation.operation.number);
  for (size_t i = 0; i < count; i += count_of<Floats>) {
    const Floats place = maximum(Floats{}, load<Floats>(from + i) * last);  // 0 for a NaN
    store(indices.data() + i, rounded(minimum(place, last)));
  }
  float* to = planes[operation.to].at.data();
  const float* entries = table + operation.operation.entries;
  for (size_t i = 0; i < count; ++i)
    to[i] = entries[indices[i]];
}

// A sample of each of a block's pixels, which are `rgba`.
template <InstructionSet set, typename Sample>
[[gnu::always_inline]] inline void load_plane(PixelOperator what, const Sample* rgba, size_t count,
                                              float factor, float* to) {
  const auto sample = [&](const auto& read) __attribute__((always_inline)) {
    load_samples(rgba, count, factor, to, read);
  };
  switch (what) {
    using enum PixelOperator;
    case red:
      return sample([](const auto& p) __attribute__((always_inline)) { return p.get(0); });
    case green:
      return sample([](const auto& p) __attribute__((always_inline)) { return p.get(1); });
    case blue:
      return sample([](const auto& p) __attribute__((always_inline)) { return p.get(2); });
    case alpha:
      return sample([](const auto& p) __attribute__((always_inline)) { return p.get(3); });
    default:
      return sample([](const auto& p)
                        __attribute__((always_inline)) { return luma_bt709_of<set>(p); });
  }
}

// load(sample, plane) fills the plane of a sample.
template <InstructionSet set, typename Load>
[[gnu::always_inline]] inline void run_operation(const PlaneOperation& operation,
                                                 PlaneProgram& program, size_t count,
                                                 const Load& load_sample) {
  Plane* planes = program.planes.data();
#define GPUFILTER_COMPUTE(operands, expression) \
  return compute<set, operands>(                \
      operation, planes, count,                 \
      [](const auto& x) __attribute__((always_inline)) { return expression; })
  switch (operation.operation.what) {
    using enum PixelOperator;
    case red:
    case green:
    case blue:
    case alpha:
    case gray:
      return load_sample(operation.operation.what, planes[operation.to].at.data());
    case number:
      return;
    case add:
      GPUFILTER_COMPUTE(2, x[0] + x[1]);
    case subtract:
      GPUFILTER_COMPUTE(2, x[0] - x[1]);
    case multiply:
      GPUFILTER_COMPUTE(2, x[0] * x[1]);
    case minimum:
      GPUFILTER_COMPUTE(2, gpufilter::minimum(x[0], x[1]));
    case maximum:
      GPUFILTER_COMPUTE(2, gpufilter::maximum(x[0], x[1]));
    case multiply_add:
      GPUFILTER_COMPUTE(3, fused_multiply_add<set>(x[0], x[1], x[2]));
    case select_less:
      GPUFILTER_COMPUTE(4, x[0] < x[1] ? x[2] : x[3]);
    case select_less_equal:
      GPUFILTER_COMPUTE(4, x[0] <= x[1] ? x[2] : x[3]);
    case select_equal:
      GPUFILTER_COMPUTE(4, x[0] == x[1] ? x[2] : x[3]);
    case look_up:
      return look_up_plane<set>(operation, planes, count, program.table);
  }
#undef GPUFILTER_COMPUTE
}

// The results of a block whose pixels were `rgba`, as pixels of as many channels. Grey is red.
template <size_t channels, bool keeps_alpha, typename Sample>
[[gnu::always_inline]] inline void store_results(const PlaneProgram& program, const Sample* rgba,
                                                 size_t count, Sample* out) {
  const Plane* planes = program.planes.data();
  const float max = program.max;
  const float* red = planes[program.results[0]].at.data();
  const float* green = planes[program.results[1]].at.data();
  const float* blue = planes[program.results[2]].at.data();
  const float* alpha = keeps_alpha ? nullptr : planes[program.results[3]].at.data();
  for (size_t i = 0; i < count; ++i) {
    if constexpr (channels == 1) {
      out[i] = static_cast<Sample>(to_sample<Sample>(red[i] * max));
    } else {
      const auto before = static_cast<std::uint32_t>(Pixel<Sample, 4>::read(rgba + 4 * i).get(3));
      Pixel<Sample, channels> pixel;
      pixel.put(0, to_sample<Sample>(red[i] * max));
      if constexpr (channels == 4) {
        pixel.put(1, to_sample<Sample>(green[i] * max));
        pixel.put(2, to_sample<Sample>(blue[i] * max));
      }
      pixel.put(channels - 1, keeps_alpha ? before : to_sample<Sample>(alpha[i] * max));
      pixel.write(out + channels * i);
    }
  }
}

template <size_t channels, typename Sample>
[[gnu::always_inline]] inline void store_results(const PlaneProgram& program, const Sample* rgba,
                                                 size_t count, Sample* out) {
  if (program.keeps_alpha)
    store_results<channels, true>(program, rgba, count, out);
  else
    store_results<channels, false>(program, rgba, count, out);
}

template <typename Sample>
struct ExpressionLoop {
  template <InstructionSet set>
  [[gnu::always_inline]] static void run(const ConstRows source, const MutableRows target,
                                         PlaneProgram* program) {
    constexpr size_t lanes = count_of<Vector<float, set>>;
    const auto channels = static_cast<size_t>(target.format.channels);
    for_rgba_blocks<set, Sample, block_pixels>(
        source, target, [&](auto& block, size_t count, Sample* out) __attribute__((always_inline)) {
          // Pixels after the last are those of earlier blocks.
          const size_t whole = (count + lanes - 1) / lanes * lanes;
          const auto load_block = [&](PixelOperator what, float* to)
              __attribute__((always_inline)) {
            load_plane<set>(what, block.data(), whole, 1 / program->max, to);
          };
          for (const PlaneOperation& operation : program->operations)
            run_operation<set>(operation, *program, whole, load_block);
          if (channels == 1) return store_results<1>(*program, block.data(), count, out);
          if (channels == 2) return store_results<2>(*program, block.data(), count, out);
          store_results<4>(*program, block.data(), count, block.data());
          from_rgba<set>(block.data(), count, channels, out);
        });
  }
};

// The alpha of `count` pixels of floats where it does not change.
void copy_alphas(const float* in, const PixelFormat& source, size_t count, float* out,
                 const PixelFormat& target) {
  const auto from = static_cast<size_t>(source.channels);
  const auto to = static_cast<size_t>(target.channels);
  for (size_t i = 0; i < count; ++i)
    std::memcpy(out + to * i + to - 1, in + from * i + from - 1, sizeof(float));
}

// Samples are the numbers themselves, loaded from the rows and stored there.
struct FloatExpressionLoop {
  template <InstructionSet set>
  [[gnu::always_inline]] static void run(const ConstRows source, const MutableRows target,
                                         PlaneProgram* program) {
    constexpr size_t lanes = count_of<Vector<float, set>>;
    const auto width = static_cast<size_t>(source.width);
    const auto channels = static_cast<size_t>(source.format.channels);
    for_rows<float>(
        source, target, [&](const float* in, float* out) __attribute__((always_inline)) {
          for (size_t x = 0; x < width; x += block_pixels) {
            const size_t count = std::min(block_pixels, width - x);
            const auto load_row = [&](PixelOperator what, float* to)
                __attribute__((always_inline)) {
              load_floats(what, in + channels * x, source.format, count, to);
            };
            for (const PlaneOperation& operation : program->operations)
              run_operation<set>(operation, *program, (count + lanes - 1) / lanes * lanes,
                                 load_row);
            store_floats(*program, count, target.format,
                         out + static_cast<size_t>(target.format.channels) * x);
            if (program->keeps_alpha && target.format.has_alpha())
              copy_alphas(in + channels * x, source.format, count,
                          out + static_cast<size_t>(target.format.channels) * x, target.format);
          }
        });
  }

 private:
  [[gnu::always_inline]] static void load_floats(PixelOperator what, const float* in,
                                                 const PixelFormat& format, size_t count,
                                                 float* to) {
    if (what == PixelOperator::alpha && !format.has_alpha()) {
      std::fill_n(to, count, 1.0F);
      return;
    }
    const auto channels = static_cast<size_t>(format.channels);
    const float* from = in + (what == PixelOperator::alpha   ? channels - 1
                              : format.color_channels() == 1 ? 0
                                                             : static_cast<size_t>(what));
    for (size_t i = 0; i < count; ++i)
      to[i] = from[channels * i];
  }

  [[gnu::always_inline]] static void store_floats(const PlaneProgram& program, size_t count,
                                                  const PixelFormat& format, float* out) {
    const auto channels = static_cast<size_t>(format.channels);
    for (size_t c = 0; c < channels; ++c) {
      const bool is_alpha = format.has_alpha() && c + 1 == channels;
      if (is_alpha && program.keeps_alpha) continue;
      const float* from = program.planes[program.results[is_alpha ? 3 : c]].at.data();
      for (size_t i = 0; i < count; ++i)
        out[channels * i + c] = stored_float(from[i]);
    }
  }
};

}  // namespace

void run_pixel_program(const ConstRows& source, const MutableRows& target,
                       const PixelProgram& program) {
  PlaneProgram placed = PlaneAllocator(program).run();
  if (source.format.is_float()) return run_loop<FloatExpressionLoop>(source, target, &placed);
  run_loop_of_depth<ExpressionLoop>(source.format.depth, source, target, &placed);
}

}  // namespace gpufilter
