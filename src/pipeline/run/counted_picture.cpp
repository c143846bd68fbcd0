#include "pipeline/run/counted_picture.hpp"

#include <variant>

#include "pipeline/run/chain_part.hpp"

namespace gpufilter {
namespace {

// Bytes that the bands in progress may take.
constexpr std::uint64_t band_memory = std::uint64_t{96} << 20U;

}  // namespace

CountedPicture count_picture(RowReader& reader, Engine& engine, const std::string& reason,
                             const OnProgress& on_progress) {
  const PictureHeader& header = reader.header();
  ChainPart part(engine,
                 {.input = {header.size, header.format},
                  .chain = {},
                  .measure = Quantity::channel_histograms,
                  .max_memory = band_memory,
                  .reason = reason},
                 0, "");
  part.walk(
      reader, band_memory, Activity::decode, [&](const Band& band) { part.measure(band); },
      [&](const Band& band) {
        if (on_progress) on_progress(band.rows.end, header.size.height);
      });
  static_cast<void>(reader.finish());
  BandExecutor& executor = *part.prepared().executor;
  return {std::get<Histograms>(executor.statistics()), part.prepared().report,
          executor.passes().back()};
}

}  // namespace gpufilter
