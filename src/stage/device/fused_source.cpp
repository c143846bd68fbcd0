#include "stage/device/fused_source.hpp"

#include "base/format.hpp"
#include "device/kernel_source.hpp"

namespace gpufilter {
namespace {

using std::size_t;

std::string table_parameter(const PixelFunction& function, const std::string& name) {
  return formatted("TABLE_SPACE const {} *restrict {}", function.table_entry, name);
}

// Copies the tables to local memory at the beginning of the kernel.
std::string local_tables_text(const std::vector<const PixelFunction*>& functions) {
  std::string parameters;
  std::string copies;
  for (size_t i = 0; i < functions.size(); ++i) {
    const PixelFunction& function = *functions[i];
    if (function.table.empty()) continue;
    parameters +=
        formatted(", __global const {} *restrict global_table_{}", function.table_entry, i);
    copies += formatted(
        " \\\n  __local {0} table_{1}[{2} / sizeof({0})]; \\\n"
        "  for (uint i = LOCAL_ITEM; i < {2} / sizeof({0}); i += GROUP_WIDTH * GROUP_HEIGHT) "
        "table_{1}[i] = global_table_{1}[i];",
        function.table_entry, i, function.table.size());
  }
  return formatted(
      "#undef KERNEL_TABLES\n#define KERNEL_TABLES{}\n#undef COPY_TABLES\n#define COPY_TABLES{} "
      "\\\n"
      "  barrier(CLK_LOCAL_MEM_FENCE);\n",
      parameters.empty() ? "" : " " + parameters, copies);
}

// Whether the kernel copies the tables to local memory.
bool has_local_tables(const StageGroup& group) {
  if (!group.window) return false;
  size_t bytes = 0;
  for (const PixelFunction* function : group.functions())
    bytes += function->table.size();
  return bytes > 0 && bytes <= group.window->kernel.room_for_tables;
}

// The tables of all steps are parameters of every function between the kernel and the steps.
std::string tables_text(const std::vector<const PixelFunction*>& functions, bool local) {
  std::string parameters;
  std::string arguments;
  for (size_t i = 0; i < functions.size(); ++i) {
    if (functions[i]->table.empty()) continue;
    parameters += ", " + table_parameter(*functions[i], formatted("table_{}", i));
    arguments += formatted(", table_{}", i);
  }
  std::string text = formatted(
      "\n#define TABLE_SPACE {}\n#undef TABLES\n#define TABLES{}\n"
      "#undef SAME_TABLES\n#define SAME_TABLES{}\n",
      local ? "__local" : "__global", parameters.empty() ? "" : " " + parameters,
      arguments.empty() ? "" : " " + arguments);
  if (local) text += local_tables_text(functions);
  return text;
}

// Functions for neighbouring steps, and one that calls them: runs of PIXELS pixels.
class StepsText {
 public:
  // `first`: the index of the first step in the group. `suffix` tells functions for runs of
  // different lengths apart.
  StepsText(const std::vector<PixelStep>& steps, size_t first, std::string suffix)
      : steps_(steps), first_(first), suffix_(std::move(suffix)) {}

  [[nodiscard]] std::string text(const std::string& name) const {
    std::string text;
    for (size_t i = 0; i < steps_.size(); ++i)
      text += function(i);
    text +=
        formatted("\nUNROLLED void {}_{}(const run_pixel{}_t *in, run_pixel{}_t *out TABLES) {{\n",
                  name, suffix_, steps_.front().source.channels, steps_.back().target.channels);
    for (size_t i = 0; i < steps_.size(); ++i)
      text += call(i);
    return text + "}\n";
  }

 private:
  [[nodiscard]] std::string name(size_t i) const {
    return formatted("stage_{}_{}", first_ + i, suffix_);
  }

  [[nodiscard]] std::string function(size_t i) const {
    const PixelStep& step = steps_[i];
    return formatted(
        "\nvoid {}(const run_pixel{}_t *in, run_pixel{}_t *out{}) {{\n{}}}\n", name(i),
        step.source.channels, step.target.channels,
        step.function.table.empty() ? "" : ", " + table_parameter(step.function, "table"),
        step.function.body);
  }

  [[nodiscard]] std::string call(size_t i) const {
    const bool last = i + 1 == steps_.size();
    const std::string from = i == 0 ? "in" : formatted("run_{}", i);
    const std::string to = last ? "out" : formatted("run_{}", i + 1);
    const std::string table =
        steps_[i].function.table.empty() ? "" : formatted(", table_{}", first_ + i);
    return (last ? "" : formatted("  run_pixel{}_t {}[PIXELS];\n", steps_[i].target.channels, to)) +
           formatted("  {}({}, {}{});\n", name(i), from, to, table);
  }

  const std::vector<PixelStep>& steps_;
  size_t first_;
  std::string suffix_;
};

}  // namespace

std::vector<const PixelFunction*> StageGroup::functions() const {
  std::vector<const PixelFunction*> all;
  for (const auto* steps : {&before, &after}) {
    for (const PixelStep& step : *steps)
      all.push_back(&step.function);
  }
  return all;
}

std::string fused_source(const StageGroup& group, size_t pixels) {
  std::string text =
      kernel_file("pixel_functions.cl") + tables_text(group.functions(), has_local_tables(group));
  if (group.counted) {
    text += formatted("\n#define COUNTED_CHANNELS OUT_CHANNELS\n{}{}", kernel_file("counters.cl"),
                      kernel_file("counting_sink.cl"));
  }
  if (!group.window) return text + StepsText(group.before, 0, "run").text("apply");
  const auto add = [&](const std::vector<PixelStep>& steps, size_t first, const std::string& name) {
    if (steps.empty()) return;
    text += StepsText(steps, first, "run").text(name) + "\n#undef PIXELS\n#define PIXELS 1\n" +
            StepsText(steps, first, "one").text(name) +
            formatted("#undef PIXELS\n#define PIXELS {}\n", pixels);
  };
  add(group.before, 0, "before");
  add(group.after, group.before.size(), "after");
  return text +
         formatted("\n#define STAGES_BEFORE {}\n#define STAGES_AFTER {}\n#define COUNTS {}\n",
                   group.before.empty() ? 0 : 1, group.after.empty() ? 0 : 1,
                   group.counted ? 1 : 0);
}

}  // namespace gpufilter
