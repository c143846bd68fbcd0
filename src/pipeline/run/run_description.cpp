#include "pipeline/run/run_description.hpp"

#include <algorithm>
#include <filesystem>
#include <utility>

#include "base/error.hpp"
#include "base/format.hpp"
#include "stages/colour/color_profile.hpp"

namespace gpufilter {

namespace {

void describe_output(OutputReport& report, const std::string& path, const Codec& format,
                     const PictureShape& shape, const WriteOptions& options) {
  report.output = path;
  report.output_format = &format;
  report.output_size = shape.size;
  report.output_pixel = shape.format;
  report.output_file_pixels = pixels_in_file(format, shape.format);
  if (!format.holds_alpha && shape.format.has_alpha())
    report.background = options.get<Color>(background_option());
}

}  // namespace

PictureTask picture_task(const PictureHeader& header, const LoweredChain& chain,
                         const Codec& output_format, std::uint64_t file_bytes) {
  return {.shape = {header.size, header.format},
          .chain = chain,
          .decoding = header.file_format->decoding,
          .encoding = output_format.encoding,
          .parallel_encoding = output_format.encodes_in_parallel,
          .file_bytes = file_bytes};
}

std::uint64_t bytes_of_file(const std::string& path) {
  std::error_code error;
  const auto bytes = std::filesystem::file_size(path, error);
  return error ? 0 : bytes;
}

bool depends_on_orientation(const StageChain& chain) {
  return std::any_of(chain.begin(), chain.end(),
                     [](const auto& stage) { return stage->traits().turns_upright; });
}

bool change_nothing(const LoweredChain& stages, PictureShape shape) {
  const auto is_idle = [&shape](const auto& step) {
    const PictureShape before = std::exchange(shape, step->output(shape));
    return step->properties({before}).changes_nothing;
  };
  return std::ranges::all_of(stages, [&](const LoweredStage& stage) {
    return !stage.demand && std::ranges::all_of(stage.steps, is_idle);
  });
}

LoweredChain lower_for(const StageChain& chain, const std::string& name,
                       const PictureHeader& header, int orientation,
                       std::vector<ChainOutput>& outputs) {
  std::vector<std::size_t> places;
  for (const ChainOutput& output : outputs)
    places.push_back(output.stages);
  PictureContext picture{.shape = {header.size, header.format},
                         .metadata = std::make_shared<Metadata>(header.metadata),
                         .orientation = orientation};
  try {
    LoweredChain lowered = lower_chain(chain, std::move(picture), places);
    for (std::size_t i = 0; i < places.size(); ++i)
      outputs[i].stages = places[i];
    return lowered;
  } catch (const UnusableProfile& error) {
    throw PictureError(name, formatted("the ICC profile {}", error.what()));
  } catch (const RefusedColors& error) {
    throw PictureError(name, error.what());
  } catch (const UnsuitableSize& error) {
    throw PictureError(name, error.what());
  }
}

int decoding_divisor(const LoweredChain& chain, PictureShape shape,
                     const std::vector<ChainOutput>& outputs, const std::vector<bool>& ignored) {
  const std::size_t turns = count_turns(chain, shape);
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    if (outputs[i].stages <= turns && !ignored[i]) return 1;
  }
  return turns == chain.size() ? 1 : chain[turns].decoding_divisor;
}

int decode_smaller(PictureInput& input, LoweredChain& chain,
                   const std::vector<ChainOutput>& outputs, const std::vector<bool>& ignored) {
  const PictureShape whole = input.shape();
  const int largest = decoding_divisor(chain, whole, outputs, ignored);
  if (largest == 1) return 1;
  const int divisor = input.decode_smaller(largest);
  if (divisor > 1) lower_for_smaller(chain, whole, input.shape(), divisor);
  return divisor;
}

void describe_orientation(RunReport& report, const StageChain& asked,
                          const std::vector<ChainOutput>& outputs) {
  report.is_oriented = depends_on_orientation(asked);
  report.others.resize(outputs.size());
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const auto end = asked.begin() + static_cast<std::ptrdiff_t>(outputs[i].stages);
    report.others[i].is_oriented = depends_on_orientation({asked.begin(), end});
  }
}

std::shared_ptr<const IccProfile> last_profile(const LoweredChain& chain) {
  std::shared_ptr<const IccProfile> profile;
  for (const auto& stage : chain) {
    if (stage.profile) profile = stage.profile;
  }
  return profile;
}

bool keeps_positions(const LoweredChain& chain, PictureShape shape) {
  return std::ranges::all_of(chain, [&shape](const LoweredStage& stage) {
    const PictureShape before = std::exchange(shape, output_of(stage, shape));
    return shape.size == before.size && (!stage.turn || stage.turn->changes_nothing());
  });
}

EngineReport engine_that_turns() {
  return engine_of_stored("only it turns and trims pictures");
}

void describe_kept(RunReport& report, const StepTitle& stage, bool in_memory, int walk) {
  const bool is_first = report.passes.empty();
  // No work: its speed is part of no estimate that is learned from runs.
  const char* where = in_memory ? "the processor, whole picture in memory"
                                : "the processor, whole picture in a temporary file";
  report.passes.push_back({{host_variant(stage.label), where}, stage.name, walk});
  ++report.result_passes;
  if (is_first) report.engine = engine_that_turns();
}

EngineReport engine_of_stored(const std::string& account) {
  EngineReport report;
  report.device = "processor";
  report.kind = processor_kind;
  report.reason = account;
  return report;
}

void describe_formats(RunReport& report, const PictureHeader& header, const LoweredChain& chain,
                      const Codec& output_format, const std::vector<ChainOutput>& outputs,
                      const RunOptions& options) {
  report.input_format = header.file_format;
  report.size = header.size;
  report.input_pixel = header.format;
  report.input_file_pixels = header.file_pixels;
  PictureShape shape{header.size, header.format};
  report.stage_warnings.clear();
  report.others.resize(outputs.size());
  std::size_t next = 0;
  for (std::size_t i = 0; i <= chain.size(); ++i) {
    for (; next < outputs.size() && outputs[next].stages == i; ++next) {
      const ChainOutput& output = outputs[next];
      const Codec& format = output.format == nullptr ? *header.file_format : *output.format;
      describe_output(report.others[next], output.path, format, shape, options.write);
      report.others[next].kept = output.keep;
    }
    if (i == chain.size()) break;
    if (!chain[i].warning.empty()) report.stage_warnings.push_back(chain[i].warning);
    shape = output_of(chain[i], shape);
  }
  describe_output(report, report.output, output_format, shape, options.write);
  report.kept = options.keep_last_output;
}

void check_results(const std::string& name, PictureShape shape, const LoweredChain& chain,
                   const ReadLimits& limits) {
  try {
    for (const LoweredStage& stage : chain) {
      if (stage.demand) {
        shape = output_of(stage, shape);
        check_size(name, shape, limits);
      }
      for (const auto& step : stage.steps) {
        shape = step->output(shape);
        check_size(name, shape, limits);
      }
    }
  } catch (const UnsuitableSize& error) {
    throw PictureError(name, error.what());
  }
}

void check_wrapping(const std::string& name, const Plan& plan, const ReadLimits& limits) {
  if (!plan.reads_past_edges()) return;
  check_memory(name,
               std::uint64_t{row_pitch(plan.input)} * static_cast<unsigned>(plan.input.size.height),
               limits, "a picture whose border wraps", "choose another border");
}

void describe_bands(RunReport& report, const Plan& plan, std::size_t in_flight) {
  report.bands = static_cast<int>(plan.bands().size());
  report.band_rows = std::min(plan.band_rows, plan.output().size.height);
  report.bands_under_way = std::min(in_flight, static_cast<std::size_t>(report.bands));
  report.memory = plan.band_memory(plan.band_rows) * report.bands_under_way;
}

}  // namespace gpufilter
