#include "compute/picture_reduction.hpp"

#include <algorithm>
#include <array>
#include <stdexcept>

#include "base/format.hpp"
#include "compute/reduction_partial.hpp"

namespace gpufilter {
namespace {

using Partial = ReductionPartial;

// Sets of counters that the work-groups share: the more sets, the less work-groups wait for each
// other.
constexpr std::size_t sets_8bit = 16;
constexpr std::size_t sets_16bit = 4;

constexpr std::size_t totals_groups_a_unit = 2;

std::size_t counters_a_set(const PixelFormat& format, Quantity quantity) {
  const auto channels = static_cast<std::size_t>(format.channels);
  const std::size_t histograms = quantity == Quantity::luma_histogram ? 1 : channels;
  return histograms * (std::size_t{format.max_sample()} + 1);
}

const char* name_of(Quantity quantity) {
  static constexpr std::array names{"totals", "channel histograms", "luma histogram"};
  return names.at(static_cast<std::size_t>(quantity));
}

PictureTotals totals_from(const std::vector<std::uint64_t>& partials, std::size_t channels,
                          std::uint64_t pixels) {
  PictureStatistics totals = PictureTotals{pixels, std::vector<ChannelTotals>(channels)};
  for (std::size_t first = 0; first < partials.size(); first += channels * Partial::elements) {
    PictureTotals partial{0, {}};
    for (std::size_t c = 0; c < channels; ++c) {
      const auto at = [&](Partial::Element element) {
        return partials[first + c * Partial::elements + element];
      };
      partial.channels.push_back({at(Partial::sum), at(Partial::squares), at(Partial::minimum),
                                  at(Partial::maximum), at(Partial::product), at(Partial::bit_and),
                                  at(Partial::bit_or), at(Partial::bit_xor)});
    }
    add_statistics(totals, partial);
  }
  return std::get<PictureTotals>(totals);
}

// Adds up the sets of counters that lie one after the other.
PictureStatistics histograms_from(const std::vector<std::uint32_t>& counters,
                                  PictureStatistics none) {
  std::vector<Histogram*> histograms;
  if (auto* channels = std::get_if<Histograms>(&none)) {
    for (Histogram& histogram : channels->channels)
      histograms.push_back(&histogram);
  } else {
    histograms.push_back(&std::get<Histogram>(none));
  }
  const std::size_t levels = histograms.front()->size();
  for (std::size_t i = 0; i < counters.size(); ++i) {
    (*histograms[i / levels % histograms.size()])[i % levels] += counters[i];
  }
  return none;
}

}  // namespace

PictureReducer::PictureReducer(Session& session, int width, const PixelFormat& format,
                               Quantity quantity, ReductionPath path, std::uint64_t counter_range)
    : format_(format),
      quantity_(quantity),
      width_(width),
      counter_range_(counter_range),
      folded_(no_statistics(format, quantity)) {
  // Whole words at a time, of 16 bytes or more: kernels/common.cl.
  std::string macros =
      formatted("{} -D PIXELS={}", format_macros(format), format.depth == 8 ? 16 : 8);
  if (quantity == Quantity::totals) {
    BuiltReduction built = build_reduction(session, path, {"reduce.cl", "reduce_picture", macros});
    launch_ = std::move(built.launch);
    // As many work-groups as have room on the device at a time: those that wait would end alone.
    launch_.groups =
        std::min(launch_.groups,
                 totals_groups_a_unit * std::max<std::size_t>(session.device().compute_units, 1));
    kernels_.push_back(std::move(built.kernel));
    partials_ = session.allocate(launch_.groups * static_cast<std::size_t>(format.channels) *
                                 Partial::elements * sizeof(std::uint64_t));
    description_ = {formatted("{} by {}", name_of(quantity), to_string(launch_.path)),
                    launch_.reason, kernels_.front().origin()};
    return;
  }
  launch_ = choose_reduction(session.device(), path);
  macros += formatted(" -D LUMA={} -D GROUP_SIZE={}", quantity == Quantity::luma_histogram ? 1 : 0,
                      launch_.group_size);
  kernels_.push_back(session.make_kernel({"reduce_histogram.cl", "clear_counters", macros}));
  kernels_.push_back(session.make_kernel({"reduce_histogram.cl", "count_values", macros}));
  sets_ = std::min(launch_.groups, format.depth == 8 ? sets_8bit : sets_16bit);
  partials_ = session.allocate(sets_ * counters_a_set(format, quantity) * sizeof(std::uint32_t));
  description_ = {formatted("{}, {} sets of counters", name_of(quantity), sets_), launch_.reason,
                  kernels_.front().origin()};
}

std::vector<Event> PictureReducer::add(Queue& queue, const DeviceRows& rows) {
  const std::uint64_t pixels = ImageSize{width_, rows.rows.count()}.pixels();
  if (pixels > counter_range_)
    throw std::overflow_error("a band has more pixels than can be counted");
  if (pixels > counter_range_ - pending_) fold(queue);
  if (pixels == 0) return {};
  const WorkRange range{launch_.groups * launch_.group_size, 1, launch_.group_size, 1};
  const std::int32_t pitch = pitch_in_samples(width_, format_);
  const std::int32_t count = rows.rows.count();
  std::vector<Event> events;
  if (quantity_ == Quantity::totals) {
    const std::int32_t begin = pending_ == 0 ? 1 : 0;
    events.push_back(queue.launch(kernels_.front(), range,
                                  {*rows.buffer, pitch, width_, count, partials_, begin}));
  } else {
    if (pending_ == 0) {
      const auto counters = static_cast<std::int32_t>(sets_ * counters_a_set(format_, quantity_));
      events.push_back(queue.launch(kernels_.front(), range, {partials_, counters}));
    }
    const auto sets = static_cast<std::int32_t>(sets_);
    events.push_back(queue.launch(kernels_.back(), range,
                                  {*rows.buffer, pitch, width_, count, partials_, sets}));
  }
  pending_ += pixels;
  return events;
}

const PictureStatistics& PictureReducer::result(Queue& queue) {
  fold(queue);
  return folded_;
}

// Adds what the device holds to the totals on the host; the device starts again from nothing.
void PictureReducer::fold(Queue& queue) {
  if (pending_ == 0) return;
  const auto download = [&](auto element) {
    std::vector<decltype(element)> host(partials_.size() / sizeof(element));
    queue.download(partials_, host.data(), partials_.size());
    queue.finish();
    return host;
  };
  if (quantity_ == Quantity::totals) {
    add_statistics(folded_, totals_from(download(std::uint64_t{}),
                                        static_cast<std::size_t>(format_.channels), pending_));
  } else {
    add_statistics(folded_,
                   histograms_from(download(std::uint32_t{}), no_statistics(format_, quantity_)));
  }
  pending_ = 0;
}

}  // namespace gpufilter
