// A part of a chain that runs without interruption, on bands that are read or pushed.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/timeline.hpp"
#include "pipeline/choose/engine.hpp"
#include "pipeline/execute/band_feed.hpp"
#include "pipeline/execute/band_pipeline.hpp"
#include "pipeline/execute/host_check.hpp"
#include "pipeline/run/run.hpp"

namespace gpufilter {

// A band in progress.
struct Band {
  RowRange rows;
  std::shared_ptr<const Image> source = nullptr;  // until it is filtered
  Image result = {};
  std::optional<CodedRows> coded = std::nullopt;  // instead of the result

  // The band's result; its source, if nothing filters it.
  [[nodiscard]] ConstRows output() const { return source ? source->rows() : result.rows(); }
};

[[nodiscard]] inline Span band_span(Activity activity, const ConstRows& rows) {
  return {.activity = activity,
          .bytes = rows.pitch * static_cast<std::uint64_t>(rows.rows.count()),
          .first_row = rows.rows.begin,
          .rows = rows.rows.count()};
}

// The number of bands in progress that keeps every step busy, as far as they fit into `memory`
// bytes; at least one.
[[nodiscard]] std::size_t bands_in_flight(const Plan& plan, std::uint64_t memory);

// Neighbouring stages, planned, prepared on an engine, and checked if that is wanted.
class ChainPart {
 public:
  // `picture` is its name in messages.
  explicit ChainPart(std::string picture) : picture_(std::move(picture)) {}
  // Prepares it at once.
  ChainPart(Engine& engine, const Work& work, int verify_blocks, std::string picture);

  // Call once, before everything below but timeline(). With `verify_blocks`, as in RunOptions.
  // Throws what Engine::prepare() throws.
  void prepare(Engine& engine, const Work& work, int verify_blocks = 0);

  [[nodiscard]] Timeline& timeline() { return timeline_; }
  [[nodiscard]] const Prepared& prepared() const { return prepared_; }
  [[nodiscard]] const Plan& plan() const { return *prepared_.plan; }
  [[nodiscard]] const PictureShape& output() const { return prepared_.plan->output(); }
  // The same work for the processor.
  [[nodiscard]] Plan plan_on_processor() const { return engine_->plan_on_processor(work_); }
  [[nodiscard]] int pass_count() const;
  // The memory of bands.
  [[nodiscard]] ImagePool& pool();

  // Takes the plan's bands from `rows`, a reader or a picture in memory, in spans of `reading`;
  // passes several at a time to work(band), as many as `memory` has room for, and then in order to
  // take(band), after which a band's memory is returned. Bands have no source if the device decodes
  // them, unless they are checked. The reader is not finished.
  template <typename Rows, typename Work, typename Take>
  void walk(Rows& rows, std::uint64_t memory, Activity reading, const Work& work, const Take& take);
  // Replaces a band's source by its result, coded if the plan says so. If the device fails, the
  // processor does this band and those after it, unless it may not or the device decodes. Safe to
  // call from several threads for different bands, as measure() is.
  void filter(Band& band);
  // For a plan that measures: adds the band to the executor's statistics.
  void measure(const Band& band) { prepared_.executor->measure(source(band), band.rows); }

  // Afterwards: adds its spans, passes and checked blocks to `report`, as the walk with this
  // number.
  void add_to(RunReport& report, int number) const;

 private:
  [[nodiscard]] ConstRows source(const Band& band) const;
  void compute(Band& band);
  void run(Band& band, BandExecutor& executor);
  [[nodiscard]] bool continue_on_processor(const DeviceError& failure);

  std::string picture_;
  Timeline timeline_;
  Engine* engine_ = nullptr;
  Work work_;
  Prepared prepared_;
  std::mutex mutex_;  // guards what follows
  std::optional<Plan> substitute_plan_;
  std::unique_ptr<BandExecutor> substitute_;  // the processor, once the device has failed
  std::string device_failure_;
  std::atomic<BandExecutor*> current_ = nullptr;  // the one of both that runs the next bands
  bool reads_source_ = true;
  ImagePool memory_;
  std::optional<BlockCheck> check_;
};

template <typename Rows, typename Work, typename Take>
void ChainPart::walk(Rows& rows, std::uint64_t memory, Activity reading, const Work& work,
                     const Take& take) {
  const std::vector<RowRange> all = plan().bands();
  BandFeed feed(rows, plan(), pool());
  // The pipeline has at most this many bands in progress, and finishes them in order.
  std::vector<Band> bands(std::min(bands_in_flight(plan(), memory), all.size()));
  std::size_t next = 0;
  const auto decode_next = [&]() -> Band* {
    if (next == all.size()) return nullptr;
    Band& band = bands[next % bands.size()];
    band.rows = all[next++];
    if (!reads_source_) return &band;
    const Nanoseconds start = now();
    band.source = feed.next(band.rows);
    Span span = band_span(reading, band.source->rows());
    span.start = start;
    span.duration = now() - start;
    timeline_.add(span);
    return &band;
  };
  const auto finish = [&](Band& band) {
    take(band);
    band = {};
  };
  run_band_pipeline<Band>(bands.size(), decode_next, work, finish);
  if (!reads_source_) return;
  const ScopedSpan span(timeline_, {.activity = reading});
  feed.finish();
}

// The part that follows an output: it continues with the rows that are written there.
class PushedPart : public ChainPart {
 public:
  using Take = std::function<void(const ConstRows& rows)>;

  // Throws what ChainPart::prepare() throws.
  PushedPart(Engine& engine, const Work& work, int verify_blocks, std::string picture);

  // The next rows of its input. Gives every band of the result that they complete to `take`.
  void push(const ConstRows& rows, const Take& take);

 private:
  BandFeed feed_;
  std::vector<RowRange> bands_;
  std::size_t next_ = 0;
};

}  // namespace gpufilter
