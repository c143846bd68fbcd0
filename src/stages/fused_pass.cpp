#include "stages/fused_pass.hpp"

#include <algorithm>
#include <utility>

#include "base/format.hpp"
#include "stages/row_pass.hpp"

namespace gpufilter {
namespace {

// What a table's parameter is called in the kernel.
std::string table_name(std::size_t step) {
  return formatted("table_{}", step);
}

std::string table_parameter(const PixelFunction& function, const std::string& name) {
  return formatted("__global const {} *restrict {}", function.table_entry, name);
}

std::string stage_function(const PixelStep& step, std::size_t index) {
  std::string parameters = formatted("const pixel{}_t *restrict in, pixel{}_t *restrict out",
                                     step.source.channels, step.target.channels);
  if (!step.function.table.empty()) parameters += ", " + table_parameter(step.function, "table");
  return formatted("void stage_{}({}) {{\n{}}}\n\n", index, parameters, step.function.body);
}

std::string stage_call(const PixelStep& step, std::size_t index) {
  return formatted("  pixel{}_t run_{}[PIXELS];\n  stage_{}(run_{}, run_{}{});\n",
                   step.target.channels, index + 1, index, index, index + 1,
                   step.function.table.empty() ? "" : ", " + table_name(index));
}

// Pixels that one work-item fills: on GPUs four, for which loads and stores are wide, or as many as
// keep their numbers in registers; on CPUs as many as a vector has room for.
std::size_t pixels_at_once(const DeviceInfo& device, const std::vector<PixelStep>& steps) {
  constexpr int registers = 160;
  if (device.kind == DeviceKind::cpu) return 16;
  int numbers = 1;
  for (const PixelStep& step : steps)
    numbers = std::max(numbers, step.function.numbers);
  std::size_t pixels = 4;
  while (pixels > 1 && numbers * static_cast<int>(pixels) > registers)
    pixels /= 2;
  return pixels;
}

}  // namespace

std::string fused_source(const std::vector<PixelStep>& steps) {
  std::string text;
  std::string parameters;
  std::string calls;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    text += stage_function(steps[i], i);
    calls += stage_call(steps[i], i);
    if (!steps[i].function.table.empty())
      parameters += ", " + table_parameter(steps[i].function, table_name(i));
  }
  return text +
         formatted(R"(__kernel __attribute__((reqd_work_group_size(GROUP_WIDTH, GROUP_HEIGHT, 1)))
void fused(ROWS{}) {{
  if (OWN_BEGIN >= width || OWN_ROW >= TARGET_END) return;
  pixel_t run_0[PIXELS];
  load_run(run_0, SOURCE_ROW(OWN_ROW), OWN_BEGIN, width);
{}  store_run(run_{}, TARGET_ROW(OWN_ROW), OWN_BEGIN, width);
}}
)",
                   parameters, calls, steps.size());
}

std::unique_ptr<DevicePass> make_fused_pass(Session& session, std::vector<PixelStep> steps,
                                            ImageSize size, DevicePass::Description description) {
  RowKernel kernel{.file = "fused.cl",
                   .function = "fused",
                   .generated = fused_source(steps),
                   .pixels = pixels_at_once(session.device(), steps),
                   .variant = std::move(description.variant),
                   .reason = std::move(description.reason)};
  for (PixelStep& step : steps) {
    if (!step.function.table.empty()) kernel.tables.push_back(std::move(step.function.table));
  }
  return make_row_pass(session, std::move(kernel), size, steps.front().source, steps.back().target);
}

}  // namespace gpufilter
