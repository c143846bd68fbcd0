#include "pipeline/execute/band_executor.hpp"

#include "base/format.hpp"
#include "compute/jpeg_encoder.hpp"
#include "host/instruction_set.hpp"
#include "pipeline/choose/estimate.hpp"

namespace gpufilter {

PassReport describe_pass(const Pass& pass) {
  const StageCost cost = pass.step->cost(pass.input.format);
  PassReport report;
  report.stage = pass.step->title().name;
  report.work = {{cost.rate,
                  cost.operations_a_pixel * static_cast<double>(pass.output.size.pixels()),
                  cost.literals}};
  return report;
}

PassReport describe_measuring(const Plan& plan) {
  PassReport report;
  report.stage = "statistics";
  report.work = {{statistics_rate, static_cast<double>(plan.output().size.pixels()) *
                                       plan.output().format.channels}};
  return report;
}

PassReport describe_coding(const Plan& plan, std::size_t step) {
  PassReport report;
  report.stage = JpegEncoder::steps.at(step);
  report.work = {{coding_rates.at(step), static_cast<double>(plan.output().size.pixels())}};
  return report;
}

std::optional<CodedRows> BandExecutor::run_coded(const ConstRows& source, const RowRange& /*band*/,
                                                 const TakeRows& target) {
  run(source, target());
  return std::nullopt;
}

// No work: its speed is part of no estimate that is learned from runs.
PassReport describe_keeping(const StepTitle& stage, bool in_memory) {
  PassReport report;
  report.stage = stage.name;
  const auto set = to_string(instruction_set());
  report.variant = stage.label.empty() ? std::string(set) : formatted("{}, {}", stage.label, set);
  report.reason = in_memory ? "the processor, whole picture in memory"
                            : "the processor, whole picture in a temporary file";
  return report;
}

PassReport describe_stored(const StepTitle& stage) {
  PassReport report;
  report.stage = stage.name;
  report.variant = stage.label;
  report.reason = "without decoding";
  return report;
}

}  // namespace gpufilter
