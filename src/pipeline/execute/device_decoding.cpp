#include "pipeline/execute/device_decoding.hpp"

#include <algorithm>
#include <bit>
#include <utility>

namespace gpufilter {

void BandCommands::add(Event event, Activity activity, int pass, std::uint64_t bytes) {
  commands_.push_back({std::move(event),
                       {.activity = activity,
                        .pass = pass,
                        .bytes = bytes,
                        .first_row = band_.begin,
                        .rows = band_.count()},
                       0});
}

void BandCommands::add_kernels(std::vector<Event> events, int pass, std::uint64_t bytes) {
  for (Event& event : events) {
    add(std::move(event), Activity::kernel, pass, bytes);
    bytes = 0;
  }
}

void BandCommands::record() {
  const Nanoseconds ended = now();
  Nanoseconds first = ended;
  Nanoseconds last = begun_;
  for (Command& command : commands_) {
    const Event::Times times = command.event.times();
    command.queued = times.queued;
    command.span.start = times.start;
    command.span.duration = times.duration;
    first = std::min(first, times.start);
    last = std::max(last, times.start + times.duration);
  }
  // The offset between the clocks is only as exact as the host was woken in time. But the commands
  // ran after they were begun and before now.
  const Nanoseconds early = std::max<Nanoseconds>(begun_ - first, 0);
  const Nanoseconds shift = last > ended ? ended - last : early;
  Nanoseconds free = begun_;  // when the queue had finished the earlier commands
  for (Command& command : commands_) {
    command.span.start += shift;
    if (command.span.activity == Activity::kernel) {
      record_launch(std::max(free, command.queued + shift), command.span.start);
    }
    timeline_.add(command.span);
    free = command.span.start + command.span.duration;
  }
}

// The time before a kernel runs: short, unless the driver compiles it for this launch.
void BandCommands::record_launch(Nanoseconds from, Nanoseconds to) {
  if (to <= from) return;
  timeline_.add({.activity = Activity::launch, .start = from, .duration = to - from});
}

namespace {

// The maximum of rows that a band reads.
int max_source_rows(const Plan& plan) {
  int rows = 1;
  for (const RowRange& band : plan.bands())
    rows = std::max(rows, plan.windows(band).front().count());
  return rows;
}

}  // namespace

const JpegScan* scan_for_device(const RunOptions& options, const PictureHeader& header,
                                const std::optional<JpegScan>& scan, int rows_decoded) {
  if (!scan || options.decode_on == DecodeOn::cpu) return nullptr;
  if (options.decode_on == DecodeOn::gpu) return &*scan;
  constexpr double clearly = 2;
  constexpr double launches = 3e-3;  // seconds, whatever the picture's size
  const Rate& rate = header.file_format->decoding;
  const auto bytes_of = [&](int rows) {
    return static_cast<double>(row_pitch(header.size.width, header.format)) * rows;
  };
  const double on_device = launches + bytes_of(header.size.height) * rate.device;
  const double on_host = bytes_of(header.size.height - rows_decoded) * rate.host;
  return clearly * on_device < on_host ? &*scan : nullptr;
}

NoteJpegCommand noted_in(BandCommands& commands) {
  return [&commands](JpegStep step, Event command) {
    const bool is_upload = step == JpegStep::upload;
    commands.add(std::move(command), is_upload ? Activity::upload : Activity::kernel,
                 static_cast<int>(step) - 1, 0);
  };
}

std::unique_ptr<DeviceDecoding> DeviceDecoding::start(Session& session, const JpegScan& scan,
                                                      Timeline& timeline) {
  std::unique_ptr<DeviceDecoding> decoding;
  {
    const ScopedSpan span(timeline, {.activity = Activity::build_program, .pass = 0});
    decoding.reset(new DeviceDecoding(session, scan));
  }
  const auto memory = session.allocate_pinned(std::bit_ceil(scan.max_bytes));
  std::size_t count = 0;
  {
    const ScopedSpan span(timeline, {.activity = Activity::decode});
    count = scan.read({memory.get(), scan.max_bytes});
  }
  Queue queue = session.make_queue();
  BandCommands commands({}, timeline);
  const bool loaded = decoding->data_.load(queue, {memory.get(), count}, noted_in(commands));
  queue.finish();
  if (!loaded) return nullptr;
  commands.record();
  return decoding;
}

std::unique_ptr<JpegRows> DeviceDecoding::make_rows(const Plan& plan, Timeline& timeline) const {
  const ScopedSpan span(timeline, {.activity = Activity::build_program, .pass = 1});
  return std::make_unique<JpegRows>(session_, data_, max_source_rows(plan));
}

std::vector<PassReport> DeviceDecoding::describe(const JpegRows& rows) const {
  std::vector<CodeDescription> code = rows.descriptions();
  code.insert(code.begin(), data_.description());
  std::vector<PassReport> reports;
  for (const char* step : {"entropy decoding", "inverse DCT", "upsampling"}) {
    PassReport report;
    static_cast<CodeDescription&>(report) = code.at(reports.size());
    report.stage = step;
    reports.push_back(std::move(report));
  }
  return reports;
}

std::unique_ptr<Plan> plan_for_decoding(const PictureShape& input, const LoweredChain& chain,
                                        const JpegScan& scan, PlanLimits limits) {
  const std::uint64_t data = JpegData::memory_of(scan);
  if (!JpegData::can_index(scan) || limits.max_memory <= data) return nullptr;
  const std::uint64_t memory = limits.max_memory - data;
  // Coefficients and samples take at most three quarters of what a band takes otherwise.
  limits.max_memory = memory / 7 * 4;
  if (limits.max_memory == 0) return nullptr;
  auto plan = std::make_unique<Plan>(make_plan(input, chain, limits));
  const std::uint64_t decoder = JpegRows::memory_of(scan, max_source_rows(*plan));
  plan->scratch += decoder;
  const bool fits = plan->band_memory(plan->band_rows) <= memory && decoder <= limits.max_buffer &&
                    !plan->reads_past_edges();
  // The device decodes for itself: the first stage may not be one of the processor.
  const bool begins_on_device =
      plan->passes.empty() || plan->passes.front().properties.processor_only.empty();
  return fits && begins_on_device ? std::move(plan) : nullptr;
}

}  // namespace gpufilter
