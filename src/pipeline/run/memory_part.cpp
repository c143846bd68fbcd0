#include "pipeline/run/memory_part.hpp"

#include <mutex>
#include <utility>
#include <vector>

#include "pipeline/run/memory_rows.hpp"

namespace gpufilter {
namespace {

// Bytes of a result's rows after which a watched call reports, and may stop.
constexpr std::size_t bytes_between_checks = std::size_t{1} << 20U;

int rows_between_checks(const PictureShape& picture) {
  return static_cast<int>(bytes_between_checks / row_pitch(picture)) + 1;
}

}  // namespace

std::size_t MemoryCall::threads() const {
  if (limits_.threads == 1) return 1;
  const std::size_t allowed = allowed_threads();
  return limits_.threads > 0 ? std::min(allowed, static_cast<std::size_t>(limits_.threads))
                             : allowed;
}

void MemoryCall::add_rows(int rows, int all) {
  if (control_.progress == nullptr) return;
  const std::lock_guard lock(mutex_);
  rows_ += rows;
  control_.progress((walk_ + static_cast<double>(rows_) / all) / walks_);
}

void MemoryCall::end_walk() {
  const std::lock_guard lock(mutex_);
  ++walk_;
  rows_ = 0;
}

void MemoryCall::use_device(Engine& engine, std::shared_ptr<Session> session) {
  engine_ = &engine;
  session_ = std::move(session);
}

bool MemoryCall::leave_device(const DeviceError& failure) {
  const auto failed = std::exchange(session_, nullptr);
  walk_ = 0;
  rows_ = 0;
  return failed != nullptr && engine_->leave(*failed, failure.what());
}

MemoryPart::MemoryPart(Engine& engine, Work work) : engine_(engine), part_(picture_in_memory) {
  work.is_divided = true;
  part_.prepare(engine, work);
}

// Calls work(source, rows of the result) for blocks of the result.
template <typename RunOnHost>
void MemoryPart::for_blocks_on_host(const ConstRows& source, MemoryCall& call,
                                    const RunOnHost& work) {
  const Plan& plan = part_.plan();
  const RowRange all{0, output().size.height};
  const RowRange window = plan.windows(all).front();
  std::shared_ptr<const Image> repeated;
  ConstRows rows = source;
  if (!source.rows.contains(window)) {
    repeated = BandFeed(source, plan, part_.pool()).next(all);
    rows = repeated->rows();
  }
  // Passes look for a stop themselves.
  const bool ends_blocks = plan.passes.empty() || call.reports();
  const int suitable = ends_blocks ? rows_between_checks(output()) : all.count();
  for_blocks(call, all, plan.minimum_part(), suitable,
             [&](const RowRange& block) { work(rows, block); });
}

// filter(band) may run for several bands at the same time; take(band) gets them in order.
template <typename Filter, typename Take>
void MemoryPart::walk_on_device(const ConstRows& source, MemoryCall& call, const Filter& filter,
                                const Take& take) {
  call.use_device(engine_, part_.prepared().session);
  part_.walk(source, call.limits().max_memory, Activity::decode, filter, [&](const Band& band) {
    take(band);
    call.add_rows(band.rows.count(), output().size.height);
  });
  call.end_walk();
}

void MemoryPart::run(const ConstRows& source, const MutableRows& target, MemoryCall& call) {
  if (is_on_device()) {
    return walk_on_device(
        source, call, [&](Band& band) { part_.filter(band); },
        [&](const Band& band) { copy_pixels(band.output(), target.part(band.rows)); });
  }
  BandExecutor* const executor = part_.prepared().executor.get();
  for_blocks_on_host(source, call, [&](const ConstRows& rows, const RowRange& block) {
    if (executor == nullptr) return copy_pixels(rows, target.part(block));
    executor->run(rows, target.part(block));
  });
}

PictureStatistics MemoryPart::measure(const ConstRows& source, MemoryCall& call) {
  BandExecutor& executor = *part_.prepared().executor;
  if (is_on_device()) {
    walk_on_device(
        source, call, [&](Band& band) { part_.measure(band); }, [](const Band&) {});
  } else {
    for_blocks_on_host(source, call, [&](const ConstRows& rows, const RowRange& block) {
      executor.measure(rows, block);
    });
  }
  return executor.statistics();
}

}  // namespace gpufilter
