#include "lab/products/host_low_product.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <memory>

#include "base/division.hpp"
#include "base/format.hpp"
#include "base/thread_limit.hpp"
#include "host/arithmetic.hpp"
#include "host/instruction_set.hpp"
#include "host/loops.hpp"
#include "host/parallel.hpp"
#include "lab/products/float_panels.hpp"

namespace gpufilter::lab {
namespace {

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

// What becomes of a tile's sums.
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
