#include "app/filter/run_plan.hpp"

#include "app/report/run_page.hpp"
#include "app/report/run_reporter.hpp"

namespace gpufilter {
namespace {

// Reachable until the process ends, so it is not a leak.
Dispatcher& made(const FilterOptions& options) {
  EngineOptions engine = default_engine_options();
  engine.band_rows = options.band_rows;
  engine.limits_steps = options.max_memory.has_value();
  engine.fuse = options.fuse;
  const bool means_opencl = options.show_kernel && options.device == "auto";
  static Dispatcher* dispatcher = nullptr;
  dispatcher = make_dispatcher(means_opencl ? "opencl" : options.device, options.require_device,
                               options.chain, engine)
                   .release();
  return *dispatcher;
}

}  // namespace

ProcessDispatcher::ProcessDispatcher(const FilterOptions& options) : dispatcher_(made(options)) {}

void await_requested_device(const FilterOptions& options, Dispatcher& dispatcher) {
  const bool needs_none = options.device == "auto" || options.device == "all";
  if (!needs_none || options.require_device) dispatcher.await_choice();
}

std::unique_ptr<ByteSink> open_trace(const FilterOptions& options) {
  return options.trace.empty() || options.dry_run ? nullptr : open_sink(options.trace);
}

int run_plan(const FilterOptions& options, const BatchPlan& plan, Dispatcher& dispatcher,
             Nanoseconds start) {
  const auto trace = open_trace(options);
  const auto page = page_for(options, plan);
  BatchOptions batch = options;
  batch.run.max_memory =
      options.max_memory.value_or(memory_of_jobs(options.run.max_memory, options.jobs));
  if (page) {
    batch.before_picture = [&page](const BatchItem& item) { return page->watch(item); };
  }
  RunReporter reporter(plan, options, start, trace.get(), page.get());
  run_batch(plan, options.chain, dispatcher, batch, reporter);
  reporter.conclude();
  return reporter.any_failed() ? 1 : 0;
}

}  // namespace gpufilter
