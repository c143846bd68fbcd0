// One walk through a picture's bands: decoding, work and what becomes of the results overlap.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/threads.hpp"
#include "base/timeline.hpp"
#include "codec/codec.hpp"
#include "image/image.hpp"
#include "pipeline/execute/band_feed.hpp"
#include "pipeline/execute/band_pipeline.hpp"
#include "pipeline/plan/plan.hpp"

namespace gpufilter {

// A band in progress.
struct Band {
  RowRange rows;
  Image image;                     // before the passes: their input; after: the result
  std::optional<CodedRows> coded;  // in place of the result
};

[[nodiscard]] inline Span band_span(Activity activity, const ConstRows& rows) {
  return {.activity = activity,
          .bytes = rows.pitch * static_cast<std::uint64_t>(rows.rows.count()),
          .first_row = rows.rows.begin,
          .rows = rows.rows.count()};
}

// The number of bands in progress that keeps every step busy, as far as they fit into `memory`
// bytes; at least one.
[[nodiscard]] inline std::size_t bands_in_flight(const Plan& plan, std::uint64_t memory) {
  const std::uint64_t enough = allowed_threads() + 2;
  return static_cast<std::size_t>(
      std::clamp<std::uint64_t>(memory / plan.band_memory(plan.band_rows), 1, enough));
}

// What a walk works on; all of it outlives the walk.
struct BandWalk {
  RowReader& reader;
  const Plan& plan;
  ImagePool& pool;     // of the bands' memory
  Timeline& timeline;  // gets a span for each band that is read
  Activity reading = Activity::decode;
  std::size_t bands_in_flight = 1;
  bool reads = true;  // if not, bands have no source
};

// Decodes the plan's bands, passes several at a time to work(band), and the results in order to
// take(band), after which a band's memory is returned. An exception in one of them ends the others
// and propagates from here. The reader is not finished.
template <typename Work, typename Take>
void walk_bands(const BandWalk& walk, const Work& work, const Take& take) {
  const std::vector<RowRange> rows = walk.plan.bands();
  BandFeed feed(walk.reader, walk.plan, walk.pool);
  // The pipeline has at most this many bands in progress, and finishes them in order.
  std::vector<Band> bands(walk.bands_in_flight);
  std::size_t next = 0;
  const auto decode_next = [&]() -> Band* {
    if (next == rows.size()) return nullptr;
    Band& band = bands[next % bands.size()];
    band.rows = rows[next++];
    if (!walk.reads) return &band;
    const Nanoseconds start = now();
    band.image = feed.next(band.rows);
    Span span = band_span(walk.reading, band.image.rows());
    span.start = start;
    span.duration = now() - start;
    walk.timeline.add(span);
    return &band;
  };
  const auto finish = [&](Band& band) {
    take(band);
    band.coded.reset();
    band.image = {};
  };
  run_band_pipeline<Band>(bands.size(), decode_next, work, finish);
  if (!walk.reads) return;
  const ScopedSpan span(walk.timeline, {.activity = walk.reading});
  feed.finish();
}

}  // namespace gpufilter
