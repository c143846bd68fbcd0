#include "compute/picture_reduction.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <utility>

#include "base/content_hash.hpp"
#include "base/error.hpp"
#include "base/format.hpp"
#include "base/log.hpp"
#include "base/numbers.hpp"
#include "device/kernel_source.hpp"

namespace gpufilter {

DevicePartials::DevicePartials(Session& session, std::size_t bytes, PictureStatistics none,
                               Read read, std::uint64_t range)
    : buffer_(session.allocate(bytes)),
      read_(std::move(read)),
      range_(range),
      folded_(std::move(none)) {}

bool DevicePartials::begin(Queue& queue, std::uint64_t pixels) {
  if (pixels > range_) throw std::overflow_error("a band has more pixels than can be counted");
  if (pixels > range_ - pending_) fold(queue);
  const bool anew = pending_ == 0;
  pending_ += pixels;
  return anew;
}

const PictureStatistics& DevicePartials::result(Queue& queue) {
  fold(queue);
  return folded_;
}

void DevicePartials::fold(Queue& queue) {
  if (pending_ == 0) return;
  const auto words =
      std::make_shared<std::vector<std::uint32_t>>(buffer_.size() / sizeof(std::uint32_t));
  queue.keep(words);
  queue.download(buffer_, words->data(), buffer_.size());
  queue.finish();
  add_statistics(folded_, read_(*words, pending_));
  pending_ = 0;
}

namespace {

constexpr std::size_t sets_8bit = 16;
constexpr std::size_t sets_16bit = 4;

std::size_t set_bytes(const PixelFormat& format, Quantity quantity) {
  const auto channels = static_cast<std::size_t>(format.channels);
  const std::size_t histograms = quantity == Quantity::luma_histogram ? 1 : channels;
  return histograms * (std::size_t{format.max_sample()} + 1) * sizeof(std::uint32_t);
}

std::int32_t sets_for(const PixelFormat& format, std::size_t groups) {
  return static_cast<std::int32_t>(std::min(groups, format.depth == 8 ? sets_8bit : sets_16bit));
}

// Adds up the consecutive copies of the counters.
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

bool is_counted(Quantity quantity) {
  return quantity != Quantity::totals;
}

std::uint64_t local_counter_bytes(const PixelFormat& format, Quantity quantity) {
  return format.depth == 8 ? set_bytes(format, quantity) : 0;
}

std::string counter_macros(Quantity quantity) {
  return formatted("-D LUMA={}", quantity == Quantity::luma_histogram ? 1 : 0);
}

HistogramCounters::HistogramCounters(Session& session, const PixelFormat& format, Quantity quantity,
                                     std::size_t groups, std::uint64_t counter_range)
    : sets_(sets_for(format, groups)),
      zeros_(static_cast<std::size_t>(sets_) * set_bytes(format, quantity)),
      partials_(
          session, zeros_.size(), no_statistics(format, quantity),
          [format, quantity](const std::vector<std::uint32_t>& counters, std::uint64_t /*pixels*/) {
            return histograms_from(counters, no_statistics(format, quantity));
          },
          counter_range) {}

std::vector<Event> HistogramCounters::begin(Queue& queue, std::uint64_t pixels) {
  if (!partials_.begin(queue, pixels)) return {};
  return {queue.upload(partials_.buffer(), zeros_.data(), zeros_.size())};
}

namespace {

constexpr std::size_t largest_group = 256;
constexpr std::size_t smallest_group = 32;
constexpr std::uint64_t local_bytes_a_work_item =
    72;  // sub-groups of one work-item need nine values each

// Work-groups for each compute unit: enough to hide memory's latency, and few enough that the host
// combines their results in no time.
constexpr std::size_t groups_a_unit = 8;

// The largest work-group that the device takes; 0: none of 32 work-items or more.
std::size_t group_size(const DeviceInfo& device) {
  for (std::size_t size = largest_group; size >= smallest_group; size /= 2) {
    if (device.fits(size, 1, size * local_bytes_a_work_item)) return size;
  }
  return 0;
}

bool is_nvidia(const DeviceInfo& device) {
  return device.compute_capability > 0;
}

// The language version that has sub-groups; empty if the device has none.
std::string sub_group_language(const DeviceInfo& device) {
  if (device.max_sub_groups == 0) return "";
  return device.device_version.starts_with("OpenCL 2") ? "-cl-std=CL2.0" : "-cl-std=CL3.0";
}

std::string reason_for(const DeviceInfo& device, ReductionPath path) {
  switch (path) {
    case ReductionPath::serial:
      return "no work-group of 32 fits";
    case ReductionPath::nvidia:
      return formatted("an NVIDIA device of compute capability {}.{}",
                       device.compute_capability / 10, device.compute_capability % 10);
    case ReductionPath::sub_groups:
      return "the device has sub-groups";
    default:
      return "the device has neither sub-groups nor NVIDIA's instructions";
  }
}

ReductionPath first_offered(const DeviceInfo& device) {
  for (const auto path :
       {ReductionPath::nvidia, ReductionPath::sub_groups, ReductionPath::local_memory}) {
    if (objection(device, path).empty()) return path;
  }
  return ReductionPath::serial;
}

}  // namespace

const char* to_string(ReductionPath path) {
  static constexpr std::array names{"automatic", "serial", "nvidia", "sub-groups", "local memory"};
  return names.at(static_cast<std::size_t>(path));
}

std::string objection(const DeviceInfo& device, ReductionPath path) {
  if (path == ReductionPath::automatic || path == ReductionPath::serial) return "";
  if (group_size(device) == 0) return "takes no work-group of 32";
  if (path == ReductionPath::nvidia && !is_nvidia(device)) return "is not NVIDIA's";
  if (path == ReductionPath::sub_groups && sub_group_language(device).empty()) {
    return "has no sub-groups";
  }
  return "";
}

ReductionLaunch choose_reduction(const DeviceInfo& device, ReductionPath path) {
  if (const std::string why_not = objection(device, path); !why_not.empty()) {
    throw UsageError(formatted("{}: {}, which the reduction by {} needs", device.name, why_not,
                               to_string(path)));
  }
  const bool chosen = path == ReductionPath::automatic;
  ReductionLaunch launch;
  launch.path = chosen ? first_offered(device) : path;
  launch.reason = chosen ? reason_for(device, launch.path) : "requested";
  if (launch.path != ReductionPath::serial) launch.group_size = group_size(device);
  launch.groups = std::max<std::size_t>(device.compute_units, 1) * groups_a_unit;
  return launch;
}

BuiltReduction build_reduction(Session& session, const ReductionLaunch& launch, bool others_allowed,
                               const KernelRequest& request) {
  const auto build = [&](ReductionLaunch built) {
    KernelRequest more = request;
    more.options += formatted(" {}", built.options(session.device()));
    return BuiltReduction{std::move(built), session.make_kernel(more)};
  };
  const bool has_substitute =
      others_allowed && launch.group_size > 1 && launch.path != ReductionPath::local_memory;
  if (!has_substitute) return build(launch);
  try {
    return build(launch);
  } catch (const DeviceError& error) {
    log::info(formatted("{}; reducing by local memory instead", error.what()));
    ReductionLaunch substitute = launch;
    substitute.path = ReductionPath::local_memory;
    substitute.reason = formatted("the compiler refuses {}", to_string(launch.path));
    return build(std::move(substitute));
  }
}

BuiltReduction build_reduction(Session& session, ReductionPath path, const KernelRequest& request) {
  return build_reduction(session, choose_reduction(session.device(), path),
                         path == ReductionPath::automatic, request);
}

std::string ReductionLaunch::options(const DeviceInfo& device) const {
  std::string options =
      formatted("-D PATH={} -D GROUP_SIZE={}", static_cast<int>(path) - 1, group_size);
  if (path == ReductionPath::nvidia)
    options += formatted(" -D COMPUTE_CAPABILITY={}", device.compute_capability);
  if (path == ReductionPath::sub_groups) options += formatted(" {}", sub_group_language(device));
  return options;
}

namespace {

// The limits of kernels/compute/reduce_parts.cl and reduce_histogram.cl.
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

// Whether the shape is worth trying: it fits, has about 64 bytes in flight for each work-item of a
// GPU, and fills a compute unit.
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
  // The pixels that one launch may add up.
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
