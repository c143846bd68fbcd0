#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "base/format.hpp"
#include "base/numbers.hpp"
#include "base/threads.hpp"
#include "host/arithmetic.hpp"
#include "host/instruction_set.hpp"
#include "host/loops.hpp"
#include "host/parallel.hpp"
#include "lab/products/low_product.hpp"

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

class FloatPanels {
 public:
  // Calls its argument for 0 ... count - 1, on one core or on several.
  using RunAll = std::function<void(std::size_t count, const std::function<void(std::size_t)>&)>;

  // Decodes A by `run_all`. C as in low_product.hpp.
  FloatPanels(const LowProduct& product, std::uint32_t* c, const RunAll& run_all)
      : product_(product), c_(c), a_(product.a.rows * product.shape.depth) {
    const size_t depth = product.shape.depth;
    run_all(product.a.rows,
            [&](size_t row) { decode(product.a, row, 0, depth, a_.data() + row * depth, 1); });
  }

  // The columns of a panel for the instruction set in use.
  [[nodiscard]] static std::size_t columns() {
    return instruction_set() >= InstructionSet::avx512 ? width_of<InstructionSet::avx512>
                                                       : width_of<InstructionSet::baseline>;
  }

  // Computes a part's panel that begins with this column.
  void run(const ProductPart& part, std::size_t column) const {
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

 private:
  const LowProduct& product_;
  std::uint32_t* c_;
  std::vector<float> a_;
};

using std::size_t;

// A panel of columns of one part of the product.
struct Task {
  ProductPart part;
  size_t column;
};

std::vector<Task> tasks_of(const LowProduct& product, size_t panel_columns) {
  std::vector<Task> tasks;
  for (const ProductPart& part : product.parts()) {
    for (size_t column = 0; column < product.shape.columns; column += panel_columns)
      tasks.push_back({part, column});
  }
  return tasks;
}

void run_tasks(size_t count, Cores cores, const std::function<void(size_t)>& work) {
  if (cores == Cores::all)
    return run_parts(static_cast<int>(count), [&](int i) { work(static_cast<size_t>(i)); });
  for (size_t i = 0; i < count; ++i)
    work(i);
}

// The conversion of a tile's sums to results.
struct Finish {
  const std::int32_t* sums = nullptr;
  std::uint32_t* c = nullptr;
  size_t rows = 0;
  size_t columns = 0;
  size_t sum_pitch = 0;
  size_t c_pitch = 0;
  const float* row_scales = nullptr;  // nullptr: sums of integers are added up
  float column_scale = 1;
  bool is_first = false;
};

struct FinishLoop {
  template <InstructionSet set>
  [[gnu::always_inline]] static void run(const Finish* finish) {
    for (size_t m = 0; m < finish->rows; ++m) {
      const std::int32_t* const sums = finish->sums + m * finish->sum_pitch;
      std::uint32_t* const c = finish->c + m * finish->c_pitch;
      if (finish->is_first) std::fill_n(c, finish->columns, 0U);
      if (finish->row_scales == nullptr) {
        for (size_t n = 0; n < finish->columns; ++n)
          c[n] += static_cast<std::uint32_t>(sums[n]);
        continue;
      }
      const float scale = finish->row_scales[m] * finish->column_scale;
      for (size_t n = 0; n < finish->columns; ++n) {
        const auto sum = static_cast<float>(sums[n]);
        c[n] = std::bit_cast<std::uint32_t>(
            fused_multiply_add<set>(sum, scale, std::bit_cast<float>(c[n])));
      }
    }
  }
};

// One task of a product of int8.
class IntegerPanel {
 public:
  IntegerPanel(const LowProduct& product, const IntegerEngine& engine, const std::uint8_t* a,
               std::uint32_t* c)
      : product_(product), engine_(engine), a_(a), c_(c) {}

  void run(const Task& task) const {
    if (engine_.begin != nullptr) engine_.begin();
    const bool is_scaled = product_.type() == NumberType::int8_scaled;
    const size_t step = is_scaled ? scale_block : IntegerEngine::max_depth;
    const size_t columns = std::min(engine_.tile_columns, product_.shape.columns - task.column);
    alignas(64) std::array<std::uint8_t, IntegerEngine::panel_bytes + 256> panel;
    for (size_t k = 0; k < product_.b.pitch; k += step) {
      const size_t depth = std::min(step, product_.b.pitch - k);
      const auto* const b = product_.b.row(task.part.b_row + task.column) + k;
      engine_.pack(reinterpret_cast<const std::int8_t*>(b), product_.b.pitch, columns, depth,
                   panel.data());
      for (size_t row = 0; row < task.part.rows; row += engine_.tile_rows)
        run_tile(task, row, columns, k, depth, panel.data());
    }
    if (engine_.end != nullptr) engine_.end();
  }

 private:
  void run_tile(const Task& task, size_t row, size_t columns, size_t k, size_t depth,
                const std::uint8_t* panel) const {
    alignas(64)
        std::array<std::int32_t, IntegerEngine::max_tile_rows * IntegerEngine::max_tile_columns>
            sums;
    const NumberMatrix& a = product_.a;
    const size_t pitch = a.pitch * engine_.bytes_of_a;
    const size_t a_row = task.part.a_row + row;
    engine_.sums(a_ + a_row * pitch + k * engine_.bytes_of_a, pitch, panel, depth, sums.data());
    Finish finish{.sums = sums.data(),
                  .c = c_ + a_row * product_.shape.columns + task.column,
                  .rows = std::min(engine_.tile_rows, task.part.rows - row),
                  .columns = columns,
                  .sum_pitch = engine_.tile_columns,
                  .c_pitch = product_.shape.columns,
                  .is_first = k == 0};
    if (product_.type() == NumberType::int8_scaled) {
      const size_t block = k / scale_block;
      finish.row_scales = a.scales.data() + a.scale_index(a_row, block);
      finish.column_scale =
          product_.b.scales[product_.b.scale_index(task.part.b_row + task.column, block)];
    }
    run_loop<FinishLoop>(&finish);
  }

  const LowProduct& product_;
  const IntegerEngine& engine_;
  const std::uint8_t* a_;
  std::uint32_t* c_;
};

void multiply_integers(const LowProduct& product, const IntegerEngine& engine, Cores cores,
                       std::uint32_t* c) {
  const NumberMatrix& a = product.a;
  const size_t pitch = a.pitch * engine.bytes_of_a;
  const size_t rows = a.bytes.size() / a.pitch;
  // Whole cache lines, not set to 0 first.
  const std::unique_ptr<std::uint8_t[]> prepared(new std::uint8_t[rows * pitch]);
  constexpr size_t rows_together = 64;
  run_tasks(divided_up(rows, rows_together), cores, [&](size_t part) {
    const size_t first = part * rows_together;
    const size_t count = std::min(rows_together, rows - first) * a.pitch;
    engine.prepare(reinterpret_cast<const std::int8_t*>(a.row(first)), count,
                   prepared.get() + first * pitch);
  });
  const std::vector<Task> tasks = tasks_of(product, engine.tile_columns);
  const IntegerPanel panel(product, engine, prepared.get(), c);
  run_tasks(tasks.size(), cores, [&](size_t i) { panel.run(tasks[i]); });
}

void multiply_floats(const LowProduct& product, Cores cores, std::uint32_t* c) {
  const FloatPanels panels(product, c, [&](size_t count, const std::function<void(size_t)>& work) {
    run_tasks(count, cores, work);
  });
  const std::vector<Task> tasks = tasks_of(product, FloatPanels::columns());
  run_tasks(tasks.size(), cores, [&](size_t i) { panels.run(tasks[i].part, tasks[i].column); });
}

}  // namespace

void multiply_on_host(const LowProduct& product, const IntegerEngine* engine, Cores cores,
                      std::uint32_t* c) {
  if (is_integer(product.type())) return multiply_integers(product, *engine, cores, c);
  multiply_floats(product, cores, c);
}

std::vector<std::uint32_t> reference_low_product(const LowProduct& product) {
  std::vector<std::uint32_t> c(product.elements());
  multiply_on_host(product, integer_engines().back(), Cores::all, c.data());
  return c;
}

std::vector<HostMethod> host_methods(NumberType type) {
  std::vector<HostMethod> methods;
  if (is_integer(type)) {
    for (const IntegerEngine* engine : integer_engines())
      methods.push_back({formatted("{}, one core", engine->name),
                         formatted("sums of int8 by {}", engine->name), engine, Cores::one});
    methods.push_back({"all cores", methods.back().about, methods.back().engine, Cores::all});
    return methods;
  }
  const std::string about = formatted("decoded to float32, {}", to_string(instruction_set()));
  return {{formatted("{}, one core", to_string(instruction_set())), about, nullptr, Cores::one},
          {"all cores", about, nullptr, Cores::all}};
}

}  // namespace gpufilter::lab
