#include "pipeline/band_executor.hpp"

#include "pipeline/estimate.hpp"

namespace gpufilter {

PassReport describe_pass(const Pass& pass) {
  const StageCost cost = pass.stage->cost(pass.input.format);
  PassReport report;
  report.stage = pass.stage->name();
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

}  // namespace gpufilter
