#include "compute/picture_reduction.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/format.hpp"
#include "compute/reduction_partial.hpp"

namespace gpufilter {
namespace {

using Partial = ReductionPartial;

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

}  // namespace

PictureReducer::PictureReducer(Session& session, int width, const PixelFormat& format,
                               Quantity quantity, ReductionPath path, std::uint64_t counter_range)
    : format_(format),
      quantity_(quantity),
      width_(width),
      launch_(choose_reduction(session.device(), path)),
      shape_(choose_statistics_shape(session, launch_, format, quantity)) {
  launch_.group_size = shape_.group_size;
  launch_.groups = groups(session.device());
  if (!shape_.reason.empty()) launch_.reason = shape_.reason;
  if (is_counted(quantity)) {
    build_histograms(session, counter_range);
  } else {
    build_totals(session, path == ReductionPath::automatic, counter_range);
  }
  description_.origin = kernel_->origin();
  description_.source = kernel_->source();
}

void PictureReducer::build_totals(Session& session, bool other_paths, std::uint64_t counter_range) {
  BuiltReduction built = build_reduction(
      session, launch_, other_paths,
      {"reduce.cl", "reduce_picture", formatted("{} {}", format_macros(format_), shape_.macros())});
  launch_ = std::move(built.launch);
  kernel_ = std::move(built.kernel);
  const auto channels = static_cast<std::size_t>(format_.channels);
  totals_.emplace(
      session, launch_.groups * channels * Partial::elements * sizeof(std::uint64_t),
      no_statistics(format_, quantity_),
      [channels](const std::vector<std::uint32_t>& words, std::uint64_t pixels) {
        return totals_from(words, channels, pixels);
      },
      counter_range);
  description_.variant = formatted("{} by {}", to_string(quantity_), to_string(launch_.path));
  description_.reason = launch_.reason;
}

void PictureReducer::build_histograms(Session& session, std::uint64_t counter_range) {
  kernel_ = session.make_kernel(
      {"reduce_histogram.cl", "count_values",
       formatted("{} {} {} -D GROUP_SIZE={}", format_macros(format_), shape_.macros(),
                 counter_macros(quantity_), launch_.group_size)});
  counters_.emplace(session, format_, quantity_, launch_.groups, counter_range);
  description_.variant =
      formatted("{}, counted in {} copies", to_string(quantity_), counters_->sets());
  description_.reason = shape_.reason.empty() ? "work-groups that count in the same copy wait for "
                                                "each other; at the end the copies are added up"
                                              : shape_.reason;
}

// Enough for the device, and for one row of any width.
std::size_t PictureReducer::groups(const DeviceInfo& device) const {
  const std::size_t of_group = max_runs() * (launch_.group_size / shape_.team());
  const std::size_t of_row = (runs_in_row() + of_group - 1) / of_group;
  return std::max(of_row, shape_.groups_a_unit * std::max<std::size_t>(device.compute_units, 1));
}

std::size_t PictureReducer::runs_in_row() const {
  return (static_cast<std::size_t>(width_) + StatisticsShape::run - 1) / StatisticsShape::run;
}

std::size_t PictureReducer::max_runs() const {
  return shape_.max_runs(quantity_, width_);
}

std::vector<Event> PictureReducer::add(Queue& queue, const DeviceRows& rows) {
  const std::uint64_t pixels = ImageSize{width_, rows.rows.count()}.pixels();
  if (pixels == 0) return {};
  std::vector<Event> events;
  bool begins = false;
  if (totals_) {
    begins = totals_->begin(queue, pixels);
  } else {
    events = counters_->begin(queue, pixels);
  }
  // What one launch may add up.
  const std::size_t teams = launch_.groups * (launch_.group_size / shape_.team());
  const auto max_rows = static_cast<std::int32_t>(
      std::min<std::size_t>(INT32_MAX, max_runs() * teams / runs_in_row()));
  for (std::int32_t first = 0; first < rows.rows.count(); first += max_rows) {
    const std::int32_t count = std::min(max_rows, rows.rows.count() - first);
    events.push_back(launch(queue, *rows.buffer, first, count, begins && first == 0));
    if (max_rows >= rows.rows.count() - first) break;
  }
  return events;
}

Event PictureReducer::launch(Queue& queue, const Buffer& rows, std::int32_t first,
                             std::int32_t count, bool begins) const {
  const WorkRange range{launch_.groups * launch_.group_size, 1, launch_.group_size, 1};
  const std::int32_t pitch = pitch_in_samples(width_, format_);
  const std::int32_t last = totals_ ? std::int32_t{begins ? 1 : 0} : counters_->sets();
  return queue.launch(
      *kernel_, range,
      {rows, pitch, width_, first, count, totals_ ? totals_->buffer() : counters_->buffer(), last});
}

const PictureStatistics& PictureReducer::result(Queue& queue) {
  return totals_ ? totals_->result(queue) : counters_->result(queue);
}

}  // namespace gpufilter
