#include "pipeline/run/memory_part.hpp"

#include <mutex>
#include <utility>
#include <vector>

#include "pipeline/execute/band_walk.hpp"
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

MemoryPart::MemoryPart(Engine& engine, const Work& work)
    : engine_(engine), prepared_(engine.prepare(work, timeline_)) {
  const bool is_host = prepared_.executor && prepared_.report.kind == processor_kind;
  if (is_host) on_host_.emplace(*prepared_.plan);
}

// Calls work(source, rows of the result) for blocks of the result.
template <typename RunOnHost>
void MemoryPart::for_blocks_on_host(const ConstRows& source, MemoryCall& call,
                                    const RunOnHost& work) {
  const Plan& plan = *prepared_.plan;
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
  call.use_device(engine_, prepared_.session);
  const Plan& plan = *prepared_.plan;
  MemoryReader reader(source);
  walk_bands({.reader = reader,
              .plan = plan,
              .pool = prepared_.executor->pool(),
              .timeline = timeline_,
              .bands_in_flight = bands_in_flight(plan, call.limits().max_memory)},
             filter, [&](const Band& band) {
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
  } else if (!prepared_.executor) {
    for_blocks(call, source.rows, minimum_rows, rows_between_checks(output()),
               [&](const RowRange& block) { copy_pixels(source, target.part(block)); });
  } else {
    walk_on_device(
        source, call,
        [&](Band& band) {
          Image result =
              prepared_.executor->pool().take(output().size.width, band.rows, output().format);
          prepared_.executor->run(std::as_const(band.image).rows(), result.rows());
          band.image = std::move(result);
        },
        [&](const Band& band) { copy_pixels(band.image.rows(), target.part(band.rows)); });
  }
}

PictureStatistics MemoryPart::measure_on_host(const ConstRows& source, MemoryCall& call) {
  const auto none = [&] { return no_statistics(output().format, *prepared_.plan->measure); };
  std::mutex mutex;
  std::vector<PictureStatistics> idle;  // each over other pixels
  const auto add = [&](const auto& count) {
    PictureStatistics partial = [&] {
      const std::lock_guard lock(mutex);
      if (idle.empty()) return none();
      PictureStatistics taken = std::move(idle.back());
      idle.pop_back();
      return taken;
    }();
    count(partial);
    const std::lock_guard lock(mutex);
    idle.push_back(std::move(partial));
  };
  if (prepared_.plan->passes.empty()) {
    for_blocks(call, source.rows, minimum_rows, rows_between_checks(output()),
               [&](const RowRange& block) {
                 add([&](PictureStatistics& into) { add_pixels(into, source.part(block)); });
               });
  } else {
    for_blocks_on_host(source, call, [&](const ConstRows& rows, const RowRange& block) {
      add([&](PictureStatistics& into) {
        Untimed untimed;
        Image strip_memory;
        const auto target_of = [&](const RowRange& strip) {
          strip_memory = on_host_->pool().take(output().size.width, strip, output().format);
          return strip_memory.rows();
        };
        on_host_->walk(rows, block, untimed, target_of,
                       [&](const ConstRows& strip) { add_pixels(into, strip); });
      });
    });
  }
  PictureStatistics all = none();
  for (const PictureStatistics& partial : idle)
    add_statistics(all, partial);
  return all;
}

PictureStatistics MemoryPart::measure(const ConstRows& source, MemoryCall& call) {
  if (on_host_) return measure_on_host(source, call);
  walk_on_device(
      source, call,
      [&](Band& band) { prepared_.executor->measure(std::as_const(band.image).rows(), band.rows); },
      [](const Band&) {});
  return prepared_.executor->statistics();
}

}  // namespace gpufilter
