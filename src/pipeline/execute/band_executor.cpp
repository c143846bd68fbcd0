#include "pipeline/execute/band_executor.hpp"

#include "base/format.hpp"
#include "compute/jpeg_encoder.hpp"
#include "host/instruction_set.hpp"
#include "pipeline/choose/machine_rates.hpp"

namespace gpufilter {

PassReport describe_pass(const Pass& pass) {
  const StageCost cost = pass.step->cost(pass.input.format);
  const auto pixels = static_cast<double>(pass.output.size.pixels());
  return {{},
          pass.step->title().name,
          0,
          {{cost.rate, cost.operations_a_pixel * pixels, cost.literals}}};
}

PassReport describe_measuring(const Plan& plan) {
  const auto& [size, format] = plan.output();
  return {{},
          "statistics",
          0,
          {{statistics_rate, static_cast<double>(size.pixels()) * format.channels}}};
}

PassReport describe_coding(const Plan& plan, std::size_t step) {
  return {{},
          JpegEncoder::steps.at(step),
          0,
          {{coding_rates.at(step), static_cast<double>(plan.output().size.pixels())}}};
}

std::string host_variant(const std::string& label) {
  const auto set = to_string(instruction_set());
  return label.empty() ? std::string(set) : formatted("{}, {}", label, set);
}

std::optional<CodedRows> BandExecutor::run_coded(const ConstRows& source, const RowRange& /*band*/,
                                                 const TakeRows& target) {
  run(source, target());
  return std::nullopt;
}

}  // namespace gpufilter
