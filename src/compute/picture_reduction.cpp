#include "compute/picture_reduction.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "base/format.hpp"
#include "compute/reduction_partial.hpp"

namespace gpufilter {
namespace {

using Partial = ReductionPartial;

constexpr std::size_t totals_groups_a_unit = 2;

const char* name_of(Quantity quantity) {
  static constexpr std::array names{"totals", "channel histograms", "luma histogram"};
  return names.at(static_cast<std::size_t>(quantity));
}

PictureStatistics totals_from(const std::vector<std::uint32_t>& words, std::size_t channels,
                              std::uint64_t pixels) {
  std::vector<std::uint64_t> partials(words.size() / 2);
  std::memcpy(partials.data(), words.data(), partials.size() * sizeof(std::uint64_t));
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
  return totals;
}

// Whole words at a time, of 16 bytes or more: kernels/common.cl.
std::string macros_for(const PixelFormat& format) {
  return formatted("{} -D PIXELS={}", format_macros(format), format.depth == 8 ? 16 : 8);
}

}  // namespace

PictureReducer::PictureReducer(Session& session, int width, const PixelFormat& format,
                               Quantity quantity, ReductionPath path, std::uint64_t counter_range)
    : format_(format), quantity_(quantity), width_(width) {
  if (is_counted(quantity)) {
    build_histograms(session, path, counter_range);
  } else {
    build_totals(session, path, counter_range);
  }
  description_.origin = kernel_->origin();
  description_.source = kernel_->source();
}

void PictureReducer::build_totals(Session& session, ReductionPath path,
                                  std::uint64_t counter_range) {
  BuiltReduction built =
      build_reduction(session, path, {"reduce.cl", "reduce_picture", macros_for(format_)});
  launch_ = std::move(built.launch);
  // As many work-groups as have room on the device at a time: those that wait would end alone.
  launch_.groups =
      std::min(launch_.groups,
               totals_groups_a_unit * std::max<std::size_t>(session.device().compute_units, 1));
  kernel_ = std::move(built.kernel);
  const auto channels = static_cast<std::size_t>(format_.channels);
  totals_.emplace(
      session, launch_.groups * channels * Partial::elements * sizeof(std::uint64_t),
      no_statistics(format_, quantity_),
      [channels](const std::vector<std::uint32_t>& words, std::uint64_t pixels) {
        return totals_from(words, channels, pixels);
      },
      counter_range);
  description_.variant = formatted("{} by {}", name_of(quantity_), to_string(launch_.path));
  description_.reason = launch_.reason;
}

void PictureReducer::build_histograms(Session& session, ReductionPath path,
                                      std::uint64_t counter_range) {
  launch_ = choose_reduction(session.device(), path);
  kernel_ = session.make_kernel({"reduce_histogram.cl", "count_values",
                                 formatted("{} {} -D GROUP_SIZE={}", macros_for(format_),
                                           counter_macros(quantity_), launch_.group_size)});
  counters_.emplace(session, format_, quantity_, launch_.groups, counter_range);
  description_.variant =
      formatted("{}, {} sets of counters", name_of(quantity_), counters_->sets());
  description_.reason = launch_.reason;
}

std::vector<Event> PictureReducer::add(Queue& queue, const DeviceRows& rows) {
  const std::uint64_t pixels = ImageSize{width_, rows.rows.count()}.pixels();
  if (pixels == 0) return {};
  const WorkRange range{launch_.groups * launch_.group_size, 1, launch_.group_size, 1};
  const std::int32_t pitch = pitch_in_samples(width_, format_);
  const std::int32_t count = rows.rows.count();
  if (totals_) {
    const std::int32_t begin = totals_->begin(queue, pixels) ? 1 : 0;
    return {queue.launch(*kernel_, range,
                         {*rows.buffer, pitch, width_, count, totals_->buffer(), begin})};
  }
  std::vector<Event> events = counters_->begin(queue, pixels);
  events.push_back(
      queue.launch(*kernel_, range,
                   {*rows.buffer, pitch, width_, count, counters_->buffer(), counters_->sets()}));
  return events;
}

const PictureStatistics& PictureReducer::result(Queue& queue) {
  return totals_ ? totals_->result(queue) : counters_->result(queue);
}

}  // namespace gpufilter
