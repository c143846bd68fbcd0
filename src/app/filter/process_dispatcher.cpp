#include "app/filter/process_dispatcher.hpp"

#include "pipeline/choose/make_dispatcher.hpp"

namespace gpufilter {
namespace {

// Reachable until the process ends, so it is not a leak.
Dispatcher& lasting_dispatcher(const FilterOptions& options) {
  EngineOptions engine = default_engine_options();
  engine.band_rows = options.band_rows;
  engine.fuse = options.fuse;
  const bool means_opencl = options.show_kernel && options.device == "auto";
  static Dispatcher* dispatcher = nullptr;
  dispatcher = make_dispatcher(means_opencl ? "opencl" : options.device, options.require_device,
                               options.chain, engine)
                   .release();
  return *dispatcher;
}

}  // namespace

ProcessDispatcher::ProcessDispatcher(const FilterOptions& options)
    : dispatcher_(lasting_dispatcher(options)) {}

ProcessDispatcher::~ProcessDispatcher() {
  dispatcher_.await_starts();
}

}  // namespace gpufilter
