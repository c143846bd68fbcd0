#include "pipeline/run_description.hpp"

#include <algorithm>
#include <utility>

#include "base/error.hpp"

namespace gpufilter {

PictureTask picture_task(const PictureHeader& header, const StageChain& chain,
                         const Codec& output_format, std::uint64_t file_bytes) {
  return {.shape = {header.size, header.format},
          .chain = chain,
          .decoding = header.file_format->decoding,
          .encoding = output_format.encoding,
          .parallel_encoding = output_format.encodes_in_parallel,
          .file_bytes = file_bytes};
}

bool depends_on_orientation(const StageChain& chain) {
  return std::any_of(chain.begin(), chain.end(),
                     [](const auto& stage) { return stage->for_orientation(1) != nullptr; });
}

StageChain chain_for_orientation(const StageChain& chain, int orientation) {
  StageChain known;
  for (const auto& stage : chain) {
    auto next = stage->for_orientation(orientation);
    if (next) {
      if (std::exchange(orientation, 1) == 1) continue;  // it changes nothing
    } else {
      next = stage;
    }
    const bool turns = next->keeps_source() || (!known.empty() && known.back()->keeps_source());
    auto both = turns && !known.empty() ? known.back()->merged_with(*next) : nullptr;
    if (both) known.pop_back();
    known.push_back(both ? std::move(both) : std::move(next));
  }
  return known;
}

EngineReport engine_that_turns() {
  EngineReport report;
  report.device = "processor";
  report.kind = processor_kind;
  report.reason = "only it turns and trims pictures";
  return report;
}

void describe_formats(RunReport& report, const PictureHeader& header, const StageChain& chain,
                      const Codec& output_format, const WriteOptions& options) {
  report.input_format = header.file_format;
  report.output_format = &output_format;
  report.size = header.size;
  report.input_pixel = header.format;
  PictureShape shape{header.size, header.format};
  for (const auto& stage : chain) {
    if (std::string doubt = stage->doubt(shape.format); !doubt.empty())
      report.doubts.push_back(std::move(doubt));
    shape = stage->output(shape);
  }
  report.output_size = shape.size;
  report.output_pixel = shape.format;
  report.input_file_pixels = header.file_pixels;
  report.output_file_pixels = pixels_in_file(output_format, report.output_pixel);
  if (!output_format.holds_alpha && report.output_pixel.has_alpha())
    report.background = options.get<Color>(background_option());
}

void check_results(const std::string& name, const PictureHeader& header, const StageChain& chain,
                   const ReadLimits& limits) {
  PictureShape shape{header.size, header.format};
  try {
    for (const auto& stage : expanded(chain, shape, nullptr)) {
      shape = stage->output(shape);
      check_size(name, static_cast<std::uint64_t>(shape.size.width),
                 static_cast<std::uint64_t>(shape.size.height), shape.format, limits);
    }
  } catch (const UnsuitableSize& error) {
    throw PictureError(name, error.what());
  }
}

}  // namespace gpufilter
