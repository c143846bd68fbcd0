#include "pipeline/run/counted_picture.hpp"

#include <variant>

#include "pipeline/execute/band_walk.hpp"

namespace gpufilter {
namespace {

// Bytes that the bands in progress may take.
constexpr std::uint64_t band_memory = std::uint64_t{96} << 20U;

}  // namespace

CountedPicture count_picture(RowReader& reader, Engine& engine, const std::string& reason,
                             const OnProgress& on_progress) {
  const PictureHeader& header = reader.header();
  Timeline timeline;
  const Prepared prepared = engine.prepare({.input = {header.size, header.format},
                                            .chain = {},
                                            .measure = Quantity::channel_histograms,
                                            .max_memory = band_memory,
                                            .reason = reason},
                                           timeline);
  walk_bands(
      {.reader = reader,
       .plan = *prepared.plan,
       .pool = prepared.executor->pool(),
       .timeline = timeline,
       .bands_in_flight = bands_in_flight(*prepared.plan, band_memory)},
      [&](const Band& band) { prepared.executor->measure(band.image.rows(), band.rows); },
      [&](const Band& band) {
        if (on_progress) on_progress(band.rows.end, header.size.height);
      });
  static_cast<void>(reader.finish());
  return {std::get<Histograms>(prepared.executor->statistics()), prepared.report,
          prepared.executor->passes().back()};
}

}  // namespace gpufilter
