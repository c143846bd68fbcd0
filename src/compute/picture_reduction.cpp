#include "compute/picture_reduction.hpp"

#include <algorithm>
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

std::size_t counters_a_set(const PixelFormat& format, Quantity quantity) {
  const auto channels = static_cast<std::size_t>(format.channels);
  const std::size_t histograms = quantity == Quantity::luma_histogram ? 1 : channels;
  return histograms * (std::size_t{format.max_sample()} + 1);
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
      launch_(choose_reduction(session.device(), path)),
      shape_(choose_statistics_shape(session, launch_, format, quantity)),
      folded_(no_statistics(format, quantity)) {
  launch_.group_size = shape_.group_size;
  if (!shape_.reason.empty()) launch_.reason = shape_.reason;
  const std::string macros = formatted("{} {}", format_macros(format), shape_.macros());
  if (quantity == Quantity::totals) {
    BuiltReduction built = build_reduction(session, launch_, path == ReductionPath::automatic,
                                           {"reduce.cl", "reduce_picture", macros});
    launch_ = std::move(built.launch);
    kernels_.push_back(std::move(built.kernel));
  } else {
    const std::string of_histograms =
        formatted("{} -D LUMA={} -D GROUP_SIZE={}", macros,
                  quantity == Quantity::luma_histogram ? 1 : 0, launch_.group_size);
    for (const char* function : {"clear_counters", "count_values"})
      kernels_.push_back(session.make_kernel({"reduce_histogram.cl", function, of_histograms}));
  }
  launch_.groups = groups(session.device());
  allocate(session);
}

// Enough for the device, and for one row of any width.
std::size_t PictureReducer::groups(const DeviceInfo& device) const {
  const std::size_t teams = launch_.group_size / shape_.team();
  const std::size_t of_row = (runs_in_row() + max_runs() * teams - 1) / (max_runs() * teams);
  return std::max(of_row, shape_.groups_a_unit * std::max<std::size_t>(device.compute_units, 1));
}

std::size_t PictureReducer::runs_in_row() const {
  return (static_cast<std::size_t>(width_) + StatisticsShape::run - 1) / StatisticsShape::run;
}

std::size_t PictureReducer::max_runs() const {
  return shape_.max_runs(quantity_, width_);
}

void PictureReducer::allocate(Session& session) {
  const auto channels = static_cast<std::size_t>(format_.channels);
  std::string variant = to_string(quantity_);
  if (quantity_ == Quantity::totals) {
    partials_ =
        session.allocate(launch_.groups * channels * Partial::elements * sizeof(std::uint64_t));
    variant += formatted(" by {}", to_string(launch_.path));
  } else {
    sets_ = std::min(launch_.groups, format_.depth == 8 ? sets_8bit : sets_16bit);
    partials_ =
        session.allocate(sets_ * counters_a_set(format_, quantity_) * sizeof(std::uint32_t));
    variant += formatted(", {} sets of counters", sets_);
  }
  description_ = {std::move(variant), launch_.reason, kernels_.front().origin()};
}

std::vector<Event> PictureReducer::add(Queue& queue, const DeviceRows& rows) {
  const std::uint64_t pixels = ImageSize{width_, rows.rows.count()}.pixels();
  if (pixels > counter_range_)
    throw std::overflow_error("a band has more pixels than can be counted");
  if (pixels > counter_range_ - pending_) fold(queue);
  if (pixels == 0) return {};
  std::vector<Event> events;
  const WorkRange range{launch_.groups * launch_.group_size, 1, launch_.group_size, 1};
  if (quantity_ != Quantity::totals && pending_ == 0) {
    const auto counters = static_cast<std::int32_t>(sets_ * counters_a_set(format_, quantity_));
    events.push_back(queue.launch(kernels_.front(), range, {partials_, counters}));
  }
  // What one launch may add up.
  const std::size_t teams = range.width / shape_.team();
  const auto most_rows = static_cast<std::int32_t>(
      std::min<std::size_t>(INT32_MAX, max_runs() * teams / runs_in_row()));
  for (std::int32_t first = 0; first < rows.rows.count();) {
    const std::int32_t count = std::min(most_rows, rows.rows.count() - first);
    events.push_back(launch(queue, range, *rows.buffer, first, count));
    first += count;
    pending_ += ImageSize{width_, count}.pixels();
  }
  return events;
}

Event PictureReducer::launch(Queue& queue, const WorkRange& range, const Buffer& buffer,
                             std::int32_t first, std::int32_t count) {
  const std::int32_t pitch = pitch_in_samples(width_, format_);
  const auto last = quantity_ == Quantity::totals ? std::int32_t{pending_ == 0 ? 1 : 0}
                                                  : static_cast<std::int32_t>(sets_);
  return queue.launch(kernels_.back(), range,
                      {buffer, pitch, width_, first, count, partials_, last});
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
