#include <algorithm>
#include <numeric>
#include <utility>
#include <variant>

#include <gpufilter/measure.hpp>

#include "api/call_options.hpp"
#include "api/library_words.hpp"
#include "api/picture_state.hpp"
#include "base/error.hpp"
#include "base/format.hpp"
#include "codec/unread.hpp"
#include "compare/comparison.hpp"
#include "compute/picture_statistics.hpp"
#include "image/image.hpp"
#include "pipeline/run/memory_filter.hpp"
#include "pipeline/run/run.hpp"

namespace gpufilter {
namespace {

// Bytes of rows that are compared between two checks for a stop.
constexpr std::size_t compared_bytes = std::size_t{1} << 20U;

// Statistics and comparisons take less time than starting a device.
Engine processor_engine() {
  return Engine(std::vector{processor("the processor")}, {});
}

void check_limit(const ConstRows& picture, const Limits& limits) {
  in_library_words([&] { check_size(picture_in_memory, shape_of(picture), read_limits(limits)); });
}

Stats stats_of(const PictureShape& shape, Histograms histograms) {
  Stats stats{public_shape(shape), {}};
  const auto names = channel_names(shape.format);
  for (std::size_t i = 0; i < names.size(); ++i) {
    const ChannelStatistics channel = channel_statistics(histograms.channels[i]);
    const ChannelTotals& totals = channel.totals;
    stats.channels.push_back({.name = names[i],
                              .minimum = static_cast<std::uint32_t>(totals.minimum),
                              .maximum = static_cast<std::uint32_t>(totals.maximum),
                              .sum = totals.sum,
                              .sum_of_squares = totals.sum_of_squares,
                              .mean = channel.mean,
                              .deviation = channel.deviation,
                              .bit_and = static_cast<std::uint32_t>(totals.bit_and),
                              .bit_or = static_cast<std::uint32_t>(totals.bit_or),
                              .bit_xor = static_cast<std::uint32_t>(totals.bit_xor),
                              .histogram = std::move(histograms.channels[i])});
  }
  return stats;
}

std::optional<PixelDifference> public_pixel(const std::optional<DifferingPixel>& pixel) {
  if (!pixel) return std::nullopt;
  return PixelDifference{pixel->x, pixel->y, pixel->a, pixel->b};
}

// Verdicts have the same order inside and outside.
static_assert(static_cast<int>(Differences::Verdict::different) ==
              static_cast<int>(Verdict::different));

Differences public_result(const Comparison& comparison) {
  Differences differences;
  differences.verdict = static_cast<Differences::Verdict>(comparison.verdict());
  differences.a = differences.b = public_shape({comparison.size, comparison.format});
  differences.differing_pixels = comparison.differing_pixels;
  differences.pixels_beyond_tolerance = comparison.pixels_beyond_tolerance;
  differences.maximum = comparison.maximum();
  differences.mean = comparison.mean();
  differences.first = public_pixel(comparison.first);
  differences.worst = public_pixel(comparison.worst);
  differences.psnr = comparison.psnr();
  differences.ssim = comparison.ssim;
  const auto names = channel_names(comparison.format);
  for (std::size_t i = 0; i < names.size(); ++i) {
    const ChannelComparison& channel = comparison.channels[i];
    differences.channels.push_back({names[i], channel.differing, channel.beyond_tolerance,
                                    channel.maximum, comparison.mean(i)});
  }
  return differences;
}

// Compares pictures whose next rows `rows_of_both(rows)` gives, as a pair.
template <typename RowsOfBoth>
Differences compare_rows(const PictureShape& a, const PictureShape& b,
                         const CompareSettings& settings, const RunControl& control,
                         const RowsOfBoth& rows_of_both) {
  if (a != b) {
    Differences differences;
    differences.verdict = Differences::Verdict::other_shape;
    differences.a = public_shape(a);
    differences.b = public_shape(b);
    return differences;
  }
  refuse_floats(a, "compare");
  using Similarity = Comparer::Similarity;
  Comparer comparer(a.size, a.format, {settings.tolerance, settings.fail_percent},
                    settings.similarity ? Similarity::computed : Similarity::left_out);
  const OnProgress report = on_progress(control);
  const int step = static_cast<int>(compared_bytes / row_pitch(a)) + 1;
  for (int y = 0; y < a.size.height; y += step) {
    const RowRange rows{y, std::min(y + step, a.size.height)};
    const auto [rows_a, rows_b] = rows_of_both(rows);
    comparer.add(rows_a, rows_b);
    check_stop();
    if (report) report(rows.end, a.size.height);
  }
  return public_result(comparer.result());
}

}  // namespace

std::uint32_t ChannelStats::percentile(double percent) const {
  if (!(percent >= 0 && percent <= 100))
    throw UsageError(formatted("percentile {}: choose a number from 0 to 100", percent));
  const std::uint64_t count = std::accumulate(histogram.begin(), histogram.end(), std::uint64_t{0});
  if (count == 0) return 0;
  return static_cast<std::uint32_t>(gpufilter::percentile(histogram, count, percent));
}

Stats stats(const ConstView& pixels, const Limits& limits, const RunControl& control) {
  enter_library();
  const ConstRows rows = rows_of(pixels);
  refuse_floats(shape_of(rows), "stats");
  check_limit(rows, limits);
  Engine engine = processor_engine();
  MemoryCall call(limits, control);
  MemoryPart part(engine, {shape_of(rows), {}, Quantity::channel_histograms});
  return stats_of(shape_of(rows), std::get<Histograms>(part.measure(rows, call)));
}

Stats stats(const PathName& path, const Limits& limits, const RunControl& control) {
  enter_library();
  refuse_nul({path.text()});
  Stats result;
  run_limited(limits, control, path, [&] {
    Engine engine = processor_engine();
    const auto reader = open_picture(open_source(path), read_limits(limits));
    CountedPicture counted = count_picture(*reader, engine, "", on_progress(control));
    warn_of_unread(path, reader->header().unread);
    result =
        stats_of({reader->header().size, reader->header().format}, std::move(counted.histograms));
  });
  return result;
}

Differences compare(const ConstView& a, const ConstView& b, const CompareSettings& settings,
                    const RunControl& control) {
  enter_library();
  const ConstRows rows_a = rows_of(a);
  const ConstRows rows_b = rows_of(b);
  check_limit(rows_a, settings.limits);
  check_limit(rows_b, settings.limits);
  return compare_rows(
      shape_of(rows_a), shape_of(rows_b), settings, control,
      [&](const RowRange& rows) { return std::pair(rows_a.part(rows), rows_b.part(rows)); });
}

Differences compare(const PathName& a, const PathName& b, const CompareSettings& settings,
                    const RunControl& control) {
  enter_library();
  refuse_nul({a.text(), b.text()});
  Differences result;
  run_limited(settings.limits, control, a, [&] {
    const auto open = [&](const std::string& path) {
      return open_picture(open_source(path), read_limits(settings.limits));
    };
    const auto reader_a = open(a);
    const auto reader_b = open(b);
    const PictureHeader& header = reader_a->header();
    Image band_a;
    Image band_b;
    result = compare_rows(
        {header.size, header.format}, {reader_b->header().size, reader_b->header().format},
        settings, control, [&](const RowRange& rows) {
          band_a = Image(header.size.width, rows, header.format);
          band_b = Image(header.size.width, rows, header.format);
          reader_a->read(band_a.rows());
          reader_b->read(band_b.rows());
          return std::pair(std::as_const(band_a).rows(), std::as_const(band_b).rows());
        });
    if (result.verdict == Differences::Verdict::other_shape) return;
    // The ends of the files may be damaged too, and nothing is equal to a damaged picture.
    static_cast<void>(reader_a->finish());
    warn_of_unread(a, reader_a->header().unread);
    static_cast<void>(reader_b->finish());
    warn_of_unread(b, reader_b->header().unread);
  });
  return result;
}

}  // namespace gpufilter
