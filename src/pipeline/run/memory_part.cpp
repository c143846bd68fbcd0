#include "pipeline/run/memory_part.hpp"

#include <mutex>
#include <utility>
#include <vector>

#include "pipeline/execute/partial_statistics.hpp"
#include "pipeline/run/memory_rows.hpp"

namespace gpufilter {
namespace {

// For rows that are only copied or counted.
constexpr int minimum_rows = 32;
// Bytes of a result's rows after which a watched call reports, and may stop.
constexpr std::size_t bytes_between_checks = std::size_t{1} << 20U;

int rows_between_checks(const PictureShape& picture) {
  return static_cast<int>(bytes_between_checks / row_pitch(picture)) + 1;
}

// The rows `window` of a picture, which reach past its edges: rows are repeated.
Image repeated_rows(const ConstRows& picture, const RowRange& window) {
  Image repeated(picture.width, window, picture.format);
  const int height = picture.rows.count();
  for (const RepeatedRows& part : cut_at_edges(window, height))
    copy_pixels(picture.renumbered(part.repeats * height), repeated.rows().part(part.rows));
  return repeated;
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

MemoryPart::MemoryPart(Engine& engine, const Work& work)
    : engine_(engine), part_(engine, work, 0, picture_in_memory) {
  const Prepared& prepared = part_.prepared();
  if (prepared.executor && prepared.report.kind == processor_kind) on_host_.emplace(part_.plan());
}

// Calls work(source, rows of the result) for blocks of the result.
template <typename RunOnHost>
void MemoryPart::for_blocks_on_host(const ConstRows& source, MemoryCall& call,
                                    const RunOnHost& work) {
  const Plan& plan = part_.plan();
  const RowRange all{0, output().size.height};
  const RowRange window = plan.windows(all).front();
  Image repeated;
  ConstRows rows = source;
  if (!source.rows.contains(window)) {
    repeated = repeated_rows(source, window);
    rows = std::as_const(repeated).rows();
  }
  // The passes look for a stop themselves.
  const int suitable = call.reports() ? rows_between_checks(output()) : all.count();
  for_blocks(call, all, on_host_->minimum_part(), suitable,
             [&](const RowRange& block) { work(rows, block); });
}

// filter(band) may run for several bands at the same time; take(band) gets them in order.
template <typename Filter, typename Take>
void MemoryPart::walk_on_device(const ConstRows& source, MemoryCall& call, const Filter& filter,
                                const Take& take) {
  call.use_device(engine_, part_.prepared().session);
  MemoryReader reader(source);
  walk_bands(part_.walk_through(reader, call.limits().max_memory), filter, [&](const Band& band) {
    take(band);
    call.add_rows(band.rows.count(), output().size.height);
  });
  call.end_walk();
}

void MemoryPart::run(const ConstRows& source, const MutableRows& target, MemoryCall& call) {
  if (on_host_) {
    for_blocks_on_host(source, call, [&](const ConstRows& rows, const RowRange& block) {
      Untimed untimed;
      on_host_->walk(
          rows, block, untimed, [&](const RowRange& strip) { return target.part(strip); },
          [](const ConstRows&) {});
    });
  } else if (!part_.prepared().executor) {
    for_blocks(call, source.rows, minimum_rows, rows_between_checks(output()),
               [&](const RowRange& block) { copy_pixels(source, target.part(block)); });
  } else {
    walk_on_device(
        source, call, [&](Band& band) { part_.filter(band); },
        [&](const Band& band) { copy_pixels(band.image.rows(), target.part(band.rows)); });
  }
}

PictureStatistics MemoryPart::measure_on_host(const ConstRows& source, MemoryCall& call) {
  PartialStatistics statistics(part_.plan());
  if (part_.plan().passes.empty()) {
    for_blocks(
        call, source.rows, minimum_rows, rows_between_checks(output()), [&](const RowRange& block) {
          statistics.add([&](PictureStatistics& into) { add_pixels(into, source.part(block)); });
        });
  } else {
    for_blocks_on_host(source, call, [&](const ConstRows& rows, const RowRange& block) {
      statistics.add([&](PictureStatistics& into) {
        Untimed untimed;
        measure_result(*on_host_, part_.plan(), {rows, block}, untimed, into);
      });
    });
  }
  return statistics.sum();
}

PictureStatistics MemoryPart::measure(const ConstRows& source, MemoryCall& call) {
  if (on_host_) return measure_on_host(source, call);
  walk_on_device(
      source, call, [&](Band& band) { part_.measure(band); }, [](const Band&) {});
  return part_.prepared().executor->statistics();
}

}  // namespace gpufilter
