#include <algorithm>

#include <gpufilter/gpufilter.hpp>

#include "base/format.hpp"
#include "pipeline/make_dispatcher.hpp"
#include "pipeline/run.hpp"
#include "stages/catalogue.hpp"
#include "stages/linear.hpp"

namespace gpufilter {
namespace {

const std::string dashes = "--";

std::shared_ptr<const Stage> make_stage(const StageUse& use) {
  const auto& kinds = stage_catalogue();
  const auto kind = std::find_if(kinds.begin(), kinds.end(), [&](const StageKind& candidate) {
    return candidate.option == dashes + use.name;
  });
  if (kind == kinds.end()) throw UsageError(formatted("'{}' is not a stage", use.name));
  GivenParameters given;
  for (const auto& [name, value] : use.parameters)
    given[dashes + name] = value;
  return kind->make(use.value, given);
}

WriteOptions write_options(const std::map<std::string, std::string>& given) {
  WriteOptions options;
  const auto known = all_write_options();
  for (const auto& [name, value] : given) {
    const auto option = std::find_if(
        known.begin(), known.end(),
        [&name = name](const WriteOption* candidate) { return candidate->name == name; });
    if (option == known.end())
      throw UsageError(formatted("'{}' is not an option of a format", name));
    options.set(**option, value);
  }
  return options;
}

}  // namespace

struct PictureFilter::State {
  StageChain chain;
  std::unique_ptr<Dispatcher> dispatcher;
};

PictureFilter::PictureFilter(const std::vector<StageUse>& stages, const std::string& device)
    : state_(std::make_unique<State>()) {
  for (const StageUse& use : stages)
    state_->chain.push_back(make_stage(use));
  state_->chain = with_light_ends(std::move(state_->chain));
  state_->dispatcher = make_dispatcher(device, false, state_->chain, default_engine_options());
}

PictureFilter::~PictureFilter() = default;
PictureFilter::PictureFilter(PictureFilter&&) noexcept = default;
PictureFilter& PictureFilter::operator=(PictureFilter&&) noexcept = default;

FilterResult PictureFilter::run(const std::string& input, const std::string& output,
                                const std::map<std::string, std::string>& options) {
  RunOptions run;
  run.write = write_options(options);
  const Codec* format = output == "-" ? nullptr : &codec_for_output(output);
  const RunReport report =
      filter_picture(input, output, format, state_->chain, *state_->dispatcher, run);
  state_->dispatcher->conclude();
  return {report.size.width,    report.size.height,   report.output_bytes,
          report.engine.device, report.engine.reason, static_cast<double>(report.total) / 1e9};
}

}  // namespace gpufilter
