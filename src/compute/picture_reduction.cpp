#include "compute/picture_reduction.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "base/content_hash.hpp"
#include "base/format.hpp"
#include "base/numbers.hpp"
#include "compute/reduction_path.hpp"
#include "device/kernel_source.hpp"

namespace gpufilter {
namespace {

// As in kernels/compute/reduce_parts.cl and reduce_histogram.cl.
constexpr std::size_t max_part = 65536;
constexpr std::size_t max_counted = 65535;

const char* function_of(Quantity quantity) {
  return quantity == Quantity::totals ? "reduce_picture" : "count_values";
}

const char* file_of(Quantity quantity) {
  return quantity == Quantity::totals ? "reduce.cl" : "reduce_histogram.cl";
}

// Pixels that fill 16 bytes, so that neighbours read neighbouring words; 48 bytes for RGB.
std::size_t wide_stretch(const PixelFormat& format) {
  if (format.channels == 3) return format.depth == 8 ? 16 : 8;
  return std::max<std::size_t>(4, 16 / format.bytes_per_pixel());
}

// Counters of a work-group: two histograms share words where there are copies.
std::uint64_t local_bytes(const StatisticsShape& shape, const PixelFormat& format,
                          Quantity quantity) {
  constexpr std::uint64_t of_scratch = 72;  // of a work-item, by the path that takes the most
  if (quantity == Quantity::totals) return shape.group_size * of_scratch;
  if (format.depth != 8) return 0;
  const std::uint64_t histograms =
      quantity == Quantity::luma_histogram ? 1 : static_cast<std::uint64_t>(format.channels);
  const std::uint64_t counters = shape.copies > 1 ? (histograms + 1) / 2 : histograms;
  return counters * 256 * shape.copies * sizeof(std::uint32_t);
}

StatisticsShape usual_shape(const DeviceInfo& device, const ReductionLaunch& launch,
                            const PixelFormat& format, Quantity quantity) {
  const bool totals = quantity == Quantity::totals;
  StatisticsShape shape;
  shape.group_size = launch.group_size;
  shape.groups_a_unit = totals ? 2 : 8;
  shape.pixels = format.depth == 8 ? 16 : 8;
  if (device.kind != DeviceKind::gpu || launch.group_size < 32) return shape;
  shape.pixels = wide_stretch(format);
  // 64 bytes under way for each work-item.
  shape.batch = std::max<std::size_t>(1, 64 / (shape.pixels * format.bytes_per_pixel()));
  // As many work-groups as have room on the device at a time: those that wait would end alone.
  if (totals) shape.groups_a_unit = 4;
  if (totals || format.depth != 8) return shape;
  // Luma of a colour picture takes as long as the counting of it in one copy.
  StatisticsShape spread = shape;
  spread.copies = format.channels == 1 ? 32 : 16;
  spread.group_size = 512;
  spread.groups_a_unit = 2;
  const bool fits = device.fits(spread.group_size, 1, local_bytes(spread, format, quantity));
  const bool is_slow_luma = quantity == Quantity::luma_histogram && format.channels == 4;
  return fits && !is_slow_luma ? spread : shape;
}

std::size_t constant(const KernelConstants& constants, const char* name, std::size_t otherwise) {
  const auto found = constants.find(name);
  return found == constants.end() ? otherwise : found->second;
}

KernelConstants constants_of(const StatisticsShape& shape, Quantity quantity) {
  KernelConstants constants{{"PIXELS", shape.pixels},
                            {"BATCH", shape.batch},
                            {"GROUP_SIZE", shape.group_size},
                            {"GROUPS_A_UNIT", shape.groups_a_unit}};
  if (quantity != Quantity::totals) constants["COPIES"] = shape.copies;
  return constants;
}

// Whether it is worth trying: some 64 bytes under way for each work-item of a GPU, as many of them
// as a unit has room for, and nothing that does not fit.
bool is_sound(const StatisticsShape& shape, const DeviceInfo& device, const PixelFormat& format,
              Quantity quantity) {
  if (shape.pixels % 4 != 0 || shape.group_size % 32 != 0) return false;
  if (!device.fits(shape.group_size, 1, local_bytes(shape, format, quantity))) return false;
  if (device.kind != DeviceKind::gpu)
    return shape.batch == 1 && shape.copies == 1 && shape.group_size == 256;
  const std::size_t stretch = shape.pixels * format.bytes_per_pixel();
  const std::size_t batch = shape.batch * stretch;
  const bool counts_in_copies = quantity != Quantity::totals && format.depth == 8;
  return stretch >= 16 && stretch <= 64 && batch >= 48 && batch <= 96 &&
         shape.group_size * shape.groups_a_unit <= 1536 && (shape.copies == 1 || counts_in_copies);
}

std::vector<StatisticsShape> all_shapes(const DeviceInfo& device, const StatisticsShape& usual,
                                        const PixelFormat& format, Quantity quantity) {
  std::vector<StatisticsShape> shapes{usual};
  if (usual.group_size < 32) return shapes;
  for (const KernelConstants& constants : candidate_constants(function_of(quantity))) {
    const StatisticsShape shape{
        .pixels = constant(constants, "PIXELS", usual.pixels),
        .batch = constant(constants, "BATCH", usual.batch),
        .group_size = constant(constants, "GROUP_SIZE", usual.group_size),
        .copies = constant(constants, "COPIES", 1),
        .groups_a_unit = constant(constants, "GROUPS_A_UNIT", usual.groups_a_unit)};
    if (is_sound(shape, device, format, quantity) &&
        constants_of(shape, quantity) != constants_of(usual, quantity))
      shapes.push_back(shape);
  }
  return shapes;
}

}  // namespace

const char* to_string(Quantity quantity) {
  static constexpr std::array names{"totals", "channel histograms", "luma histogram"};
  return names.at(static_cast<std::size_t>(quantity));
}

std::string StatisticsShape::macros() const {
  return formatted("-D PIXELS={} -D BATCH={} -D RUN={} -D COPIES={}", pixels, batch, run, copies);
}

std::size_t StatisticsShape::max_runs(Quantity quantity, int width) const {
  const std::size_t in_run = std::min(run, static_cast<std::size_t>(width));
  // Whole stretches in turn, and of the rest a pixel each at most.
  const std::size_t stretches = divided_up(divided_up(in_run, pixels), team());
  const std::size_t of_item = std::min(in_run, stretches * pixels + divided_up(pixels, team()));
  if (quantity == Quantity::totals) return max_part / of_item;
  if (copies == 1) return max_counted;
  const std::size_t of_copy = std::min(in_run, divided_up(team(), copies) * of_item);
  return max_counted / of_copy / (group_size / team());
}

StatisticsShape choose_statistics_shape(const Session& session, const ReductionLaunch& launch,
                                        const PixelFormat& format, Quantity quantity) {
  const DeviceInfo& device = session.device();
  StatisticsShape usual = usual_shape(device, launch, format, quantity);
  if (session.tuning() == nullptr) return usual;
  const std::vector<StatisticsShape> shapes = all_shapes(device, usual, format, quantity);
  std::vector<KernelCandidate> candidates;
  candidates.reserve(shapes.size());
  for (const StatisticsShape& shape : shapes)
    candidates.push_back({function_of(quantity), {}, constants_of(shape, quantity)});
  const KernelSite site{to_string(quantity), format, format,
                        to_string(content_hash(kernel_source(file_of(quantity))))};
  const auto choice = session.tuning()->choose(site, candidates);
  if (!choice) return usual;
  StatisticsShape chosen = shapes.at(choice->candidate);
  chosen.reason = choice->reason;
  return chosen;
}

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
