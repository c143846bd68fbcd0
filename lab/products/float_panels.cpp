#include "lab/products/float_panels.hpp"

#include <algorithm>
#include <array>

#include "host/arithmetic.hpp"
#include "host/loops.hpp"

namespace gpufilter::lab {
namespace {

using std::size_t;

// As in vector_products.cpp.
template <InstructionSet set>
constexpr size_t width_of = set == InstructionSet::avx512 ? 64 : 32;
template <InstructionSet set>
constexpr size_t height_of = set == InstructionSet::avx512 ? 6 : 3;
constexpr size_t widest_panel = 64;

using PackedPanel = std::array<float, scale_block * widest_panel>;

const std::array<float, 256>& e4m3_numbers() {
  static const auto numbers = [] {
    std::array<float, 256> table{};
    for (size_t i = 0; i < table.size(); ++i)
      table[i] = from_e4m3(static_cast<std::uint8_t>(i));
    return table;
  }();
  return numbers;
}

const std::vector<float>& float16_numbers() {
  static const auto numbers = [] {
    std::vector<float> table(65536);
    for (size_t i = 0; i < table.size(); ++i)
      table[i] = from_float16(static_cast<std::uint16_t>(i));
    return table;
  }();
  return numbers;
}

// Numbers k_begin ... k_end - 1 of a row, `stride` apart.
void decode(const NumberMatrix& matrix, size_t row, size_t k_begin, size_t k_end, float* to,
            size_t stride) {
  const std::uint8_t* const bytes = matrix.row(row);
  if (is_fp8(matrix.type)) {
    const auto& numbers = e4m3_numbers();
    for (size_t k = k_begin; k < k_end; ++k, to += stride)
      *to = numbers[bytes[k]];
  } else if (matrix.type == NumberType::bfloat16) {
    for (size_t k = k_begin; k < k_end; ++k, to += stride)
      *to = from_bfloat16(load<std::uint16_t>(bytes + 2 * k));
  } else if (matrix.type == NumberType::float32) {
    for (size_t k = k_begin; k < k_end; ++k, to += stride)
      *to = load<float>(bytes + 4 * k);
  } else {
    const auto& numbers = float16_numbers();
    for (size_t k = k_begin; k < k_end; ++k, to += stride)
      *to = numbers[load<std::uint16_t>(bytes + 2 * k)];
  }
}

// Rows of C in a panel, and what they are computed from.
struct Stretch {
  const float* a = nullptr;  // decoded, from k_begin on
  size_t a_pitch = 0;
  const float* b = nullptr;  // packed
  size_t depth = 0;
  size_t rows = 0;
  size_t columns = 0;
  std::uint32_t* c = nullptr;
  size_t c_pitch = 0;
  const float* row_scales = nullptr;  // nullptr: not scaled
  float column_scale = 1;
  bool is_promoted = false;  // else scaled at the end
  bool is_first = false;
  bool is_last = false;
};

template <InstructionSet set, size_t height>
[[gnu::always_inline]] inline void continue_rows(const Stretch& stretch, size_t row) {
  constexpr size_t width = width_of<set>;
  std::array<std::array<float, width>, height> before;
  std::array<std::array<float, width>, height> sums;
  for (size_t y = 0; y < height; ++y) {
    before[y].fill(0);
    const std::uint32_t* const c = stretch.c + (row + y) * stretch.c_pitch;
    if (!stretch.is_first) std::memcpy(before[y].data(), c, stretch.columns * sizeof(float));
    if (stretch.is_promoted) {
      sums[y].fill(0);
    } else {
      sums[y] = before[y];
    }
  }
  for (size_t k = 0; k < stretch.depth; ++k) {
    const float* const b = stretch.b + k * width;
    for (size_t y = 0; y < height; ++y) {
      const float factor = stretch.a[(row + y) * stretch.a_pitch + k];
      for (size_t x = 0; x < width; ++x)
        sums[y][x] = fused_multiply_add<set>(factor, b[x], sums[y][x]);
    }
  }
  for (size_t y = 0; y < height; ++y) {
    const float scale =
        stretch.row_scales == nullptr ? 1 : stretch.row_scales[row + y] * stretch.column_scale;
    for (size_t x = 0; x < width; ++x) {
      float result = sums[y][x];
      if (stretch.is_promoted) {
        result = fused_multiply_add<set>(result, scale, before[y][x]);
      } else if (stretch.is_last) {
        result *= scale;
      }
      sums[y][x] = stretch.is_last ? result + 0.0F : result;
    }
    std::memcpy(stretch.c + (row + y) * stretch.c_pitch, sums[y].data(),
                stretch.columns * sizeof(float));
  }
}

struct StretchLoop {
  template <InstructionSet set>
  [[gnu::always_inline]] static void run(const Stretch* stretch) {
    size_t row = 0;
    for (; row + height_of<set> <= stretch->rows; row += height_of<set>)
      continue_rows<set, height_of<set>>(*stretch, row);
    for (; row < stretch->rows; ++row)
      continue_rows<set, 1>(*stretch, row);
  }
};

}  // namespace

FloatPanels::FloatPanels(const LowProduct& product, std::uint32_t* c, const RunAll& run_all)
    : product_(product), c_(c), a_(product.a.rows * product.shape.depth) {
  const size_t depth = product.shape.depth;
  run_all(product.a.rows,
          [&](size_t row) { decode(product.a, row, 0, depth, a_.data() + row * depth, 1); });
}

std::size_t FloatPanels::columns() {
  return instruction_set() == InstructionSet::avx512 ? width_of<InstructionSet::avx512>
                                                     : width_of<InstructionSet::baseline>;
}

void FloatPanels::run(const ProductPart& part, std::size_t column) const {
  const size_t width = columns();
  const NumberMatrix& a = product_.a;
  const NumberMatrix& b = product_.b;
  const size_t count = std::min(width, product_.shape.columns - column);
  alignas(64) PackedPanel packed{};
  for (size_t k = 0; k < a.depth; k += scale_block) {
    const size_t k_end = std::min(k + scale_block, a.depth);
    for (size_t x = 0; x < count; ++x)
      decode(b, part.b_row + column + x, k, k_end, packed.data() + x, width);
    Stretch stretch{.a = a_.data() + part.a_row * a.depth + k,
                    .a_pitch = a.depth,
                    .b = packed.data(),
                    .depth = k_end - k,
                    .rows = part.rows,
                    .columns = count,
                    .c = c_ + part.a_row * product_.shape.columns + column,
                    .c_pitch = product_.shape.columns,
                    .is_promoted = is_promoted(a.type),
                    .is_first = k == 0,
                    .is_last = k_end == a.depth};
    if (a.scale_blocks > 0) {
      const size_t block = a.scale_blocks == 1 ? 0 : k / scale_block;
      stretch.row_scales = a.scales.data() + a.scale_index(part.a_row, block);
      stretch.column_scale = b.scales[b.scale_index(part.b_row + column, block)];
    }
    run_loop<StretchLoop>(&stretch);
  }
}

}  // namespace gpufilter::lab
