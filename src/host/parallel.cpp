#include "host/parallel.hpp"

#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

#include "base/background.hpp"
#include "base/stop.hpp"

namespace gpufilter {

void run_parts(int parts, const std::function<void(int part)>& work) {
  const std::stop_token& stop = stop_of_this_call();
  happens_before(&work);
  const HappensAfter joined(&work);
  tbb::this_task_arena::isolate([&] {
    tbb::parallel_for(0, parts, [&](int part) {
      happens_after(&work);
      const HappensBefore order(&work);
      const StopScope scope(stop);
      work(part);
    });
  });
}

}  // namespace gpufilter
