#include <algorithm>
#include <array>
#include <condition_variable>
#include <mutex>
#include <optional>

#include "base/background.hpp"
#include "base/format.hpp"
#include "base/log.hpp"
#include "base/stop.hpp"
#include "compute/jpeg_encoder.hpp"
#include "compute/picture_reduction.hpp"
#include "device/device_error.hpp"
#include "pipeline/execute/band_executor.hpp"
#include "pipeline/execute/device_decoding.hpp"
#include "pipeline/execute/host_check.hpp"
#include "pipeline/execute/pass_groups.hpp"

namespace gpufilter {
namespace {

// The resources of one band on the device: a queue, two buffers that the passes use alternately,
// and kernels with their own arguments. Bands that run at the same time have separate lanes, so
// that transfers of one overlap with kernels of another.
struct Lane {
  std::array<Buffer, 2> buffers;
  // A pass for each group that stores its result; nullptr: the processor runs the group.
  std::vector<std::unique_ptr<DevicePass>> passes;
  std::unique_ptr<CountingPass> counting;   // of the group that counts it; or
  std::unique_ptr<PictureReducer> reducer;  // if the plan measures with a separate kernel
  std::unique_ptr<JpegRows> decoded;        // fills the first buffer, if the device decodes
  std::unique_ptr<JpegEncoder> encoder;     // if the results are coded
  Image before;                             // the band's input, if the processor made it
  std::array<Image, 2> between;             // of a pass of the processor among those of the device
  Queue queue;                              // goes first: its commands use the rest

  [[nodiscard]] const PictureStatistics& statistics() {
    return counting ? counting->result(queue) : reducer->result(queue);
  }
};

// The lanes of an executor. Thread-safe.
class Lanes {
 public:
  // An idle lane, or what make() makes. If the device lacks memory for another, the next one that
  // becomes idle. Throws what make() throws.
  template <typename Make>
  [[nodiscard]] std::unique_ptr<Lane> take(const Make& make) {
    std::unique_lock lock(mutex_);
    if (!idle_.empty()) return last();
    ++count_;
    lock.unlock();
    try {
      return make();
    } catch (const OutOfDeviceMemory&) {
      lost();
      lock.lock();
      changed_.wait(lock, [this] { return !idle_.empty() || count_ == 0; });
      if (idle_.empty()) throw;
      return last();
    } catch (...) {
      lost();
      throw;
    }
  }

  void put(std::unique_ptr<Lane> lane) {
    const std::lock_guard lock(mutex_);
    idle_.push_back(std::move(lane));
    changed_.notify_one();
  }

  // A lane that was taken does not come back.
  void lost() {
    const std::lock_guard lock(mutex_);
    --count_;
    changed_.notify_all();
  }

  // While none is taken.
  [[nodiscard]] const std::vector<std::unique_ptr<Lane>>& all() const { return idle_; }

 private:
  [[nodiscard]] std::unique_ptr<Lane> last() {
    auto lane = std::move(idle_.back());
    idle_.pop_back();
    return lane;
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::unique_ptr<Lane>> idle_;
  std::size_t count_ = 0;  // idle, taken and being made
};

std::size_t bytes_of(const RowRange& rows, std::size_t pitch) {
  return pitch * static_cast<std::size_t>(rows.count());
}

class DeviceExecutor final : public BandExecutor {
 public:
  DeviceExecutor(const Plan& plan, Session& session, Timeline& timeline, bool fuse,
                 const JpegScan* scan)
      : plan_(plan),
        groups_(group_passes(plan, session.device(), fuse)),
        counts_(!groups_.empty() && groups_.back().counts),
        stored_(groups_.size() - (counts_ ? 1 : 0)),
        session_(session),
        timeline_(timeline),
        in_place_(session.device().kind == DeviceKind::cpu && session.device().unified_memory),
        pool_(make_pool()),
        decoding_(scan == nullptr ? nullptr : DeviceDecoding::start(session, *scan, timeline)),
        first_pass_(decoding_ ? DeviceDecoding::steps : 0) {
    auto lane = lanes_.take([this] { return make_lane(); });
    if (decoding_) reports_ = decoding_->describe(*lane->decoded);
    for (std::size_t i = 0; i < stored_; ++i)
      add_report(describe_group(plan, groups_[i]),
                 lane->passes[i] ? lane->passes[i]->description() : describe_processor(i));
    while (!decoding_ && first_on_device_ < stored_ && !lane->passes[first_on_device_])
      ++first_on_device_;
    if (counts_) add_report(describe_group(plan, groups_.back()), lane->counting->description());
    if (lane->reducer) add_report(describe_measuring(plan), lane->reducer->description());
    if (lane->encoder) {
      for (std::size_t i = 0; i < JpegEncoder::steps.size(); ++i)
        add_report(describe_coding(plan, i), lane->encoder->descriptions().at(i));
    }
    lanes_.put(std::move(lane));
  }

  [[nodiscard]] ImagePool& pool() override { return pool_; }

  void run(const ConstRows& rows, const MutableRows& target) override {
    if (stored_ > 0 && first_on_device_ == stored_) return run_on_processor(rows, target);
    on_lane(rows, target.rows, [&](Lane& lane, const Buffer& input, BandCommands& commands) {
      const std::size_t bytes = bytes_of(target.rows, target.pitch);
      if (in_place_) {
        const Buffer output = session_.borrow(target.data, bytes);
        run_passes(lane, input, target.rows, &output, commands);
        commands.add(lane.queue.reclaim(output), Activity::download, -1, 0);
        return lane.queue.finish();
      }
      const Buffer& output = run_passes(lane, input, target.rows, nullptr, commands);
      download(lane, output, target.data, bytes, commands);
    });
  }

  [[nodiscard]] std::optional<CodedRows> run_coded(const ConstRows& rows, const RowRange& band,
                                                   const TakeRows& target) override {
    std::optional<CodedRows> coded;
    on_lane(rows, band, [&](Lane& lane, const Buffer& input, BandCommands& commands) {
      const Buffer& result = run_passes(lane, input, band, nullptr, commands);
      coded = encode(lane, {&result, band}, commands);
      if (coded) return;
      const MutableRows to = target();
      download(lane, result, to.data, bytes_of(band, to.pitch), commands);
    });
    return coded;
  }

  void measure(const ConstRows& rows_read, const RowRange& band) override {
    on_lane(rows_read, band, [&](Lane& lane, const Buffer& input, BandCommands& commands) {
      const std::size_t last = counts_ ? groups_.back().first : plan_.passes.size();
      const DeviceRows rows{&run_passes(lane, input, band, nullptr, commands),
                            plan_.windows(band)[last]};
      const PictureShape& shape = counts_ ? plan_.passes[last].input : plan_.output();
      commands.add_kernels(counts_ ? lane.counting->enqueue(lane.queue, rows, band)
                                   : lane.reducer->add(lane.queue, rows),
                           pass_number(stored_), bytes_of(rows.rows, row_pitch(shape)));
      lane.queue.finish();
    });
  }

  [[nodiscard]] PictureStatistics statistics() override {
    PictureStatistics all = no_statistics(plan_.output().format, *plan_.measure);
    for (const auto& lane : lanes_.all())
      add_statistics(all, lane->statistics());
    return all;
  }

  [[nodiscard]] const std::vector<PassReport>& passes() const override { return reports_; }
  [[nodiscard]] bool decodes() const override { return decoding_ != nullptr; }

 private:
  // In the reports, where the steps of decoding come first.
  [[nodiscard]] int pass_number(std::size_t group) const {
    return first_pass_ + static_cast<int>(group);
  }

  // Whether the passes read the source in the host's memory.
  [[nodiscard]] bool takes_in_place() const { return in_place_ && !decoding_; }

  [[nodiscard]] const Pass& first_pass(std::size_t group) const {
    return plan_.passes[groups_[group].first];
  }

  // A pass that only the processor can run is its own group.
  [[nodiscard]] bool is_on_processor(std::size_t group) const {
    return !first_pass(group).properties.processor_only.empty();
  }

  [[nodiscard]] CodeDescription describe_processor(std::size_t group) const {
    const Pass& pass = first_pass(group);
    return {pass.step->title().label,
            formatted("the processor: {}", pass.properties.processor_only)};
  }

  void run_on_processor(std::size_t group, const ConstRows& source, const MutableRows& target) {
    const ScopedSpan span(timeline_, {.activity = Activity::kernel,
                                      .pass = pass_number(group),
                                      .bytes = bytes_of(source.rows, source.pitch) +
                                               bytes_of(target.rows, target.pitch),
                                      .first_row = target.rows.begin,
                                      .rows = target.rows.count()});
    run_on_host(first_pass(group), source, target);
  }

  // Runs all groups, if none is the device's.
  void run_on_processor(const ConstRows& source, const MutableRows& target) {
    const Image before = run_first(stored_ - 1, source, target.rows);
    run_on_processor(stored_ - 1, stored_ > 1 ? before.rows() : source, target);
  }

  // The result of the leading groups that the processor runs; empty if there are none.
  [[nodiscard]] Image run_first(std::size_t count, const ConstRows& source, const RowRange& band) {
    const auto windows = plan_.windows(band);
    Image result;
    for (std::size_t i = 0; i < count; ++i) {
      const PictureShape& shape = first_pass(i).output;
      Image next = pool_.take(shape.size.width, windows[groups_[i].end], shape.format);
      run_on_processor(i, i == 0 ? source : std::as_const(result).rows(), next.rows());
      result = std::move(next);
    }
    return result;
  }

  // Runs a group on the processor between groups of the device: downloads its rows and uploads the
  // result.
  void run_between(Lane& lane, std::size_t group, const DeviceRows& from, const DeviceRows& to,
                   BandCommands& commands) {
    const Pass& pass = first_pass(group);
    auto& [source, target] = lane.between;
    source = pool_.take(pass.input.size.width, from.rows, pass.input.format);
    target = pool_.take(pass.output.size.width, to.rows, pass.output.format);
    download(lane, *from.buffer, source.rows().data, source.bytes(), commands);
    run_on_processor(group, std::as_const(source).rows(), target.rows());
    commands.add(lane.queue.upload(*to.buffer, target.rows().data, target.bytes()),
                 Activity::upload, -1, target.bytes());
    lane.queue.finish();
  }

  void add_report(PassReport report, const CodeDescription& code) {
    static_cast<CodeDescription&>(report) = code;
    reports_.push_back(std::move(report));
  }

  [[nodiscard]] std::unique_ptr<Lane> make_lane() {
    const auto bytes = static_cast<std::size_t>(plan_.largest_buffer(plan_.band_rows)) + row_slack;
    auto lane = std::make_unique<Lane>(Lane{{}, {}, {}, {}, {}, {}, {}, {}, session_.make_queue()});
    // Buffers hold the results that stay on the device; in place, the last group's may not stay.
    const bool stays = plan_.measure || plan_.coding;
    const std::size_t kept = stored_ - (in_place_ && !stays ? 1 : 0);
    if (!takes_in_place() || kept >= 2) lane->buffers[0] = session_.allocate(bytes);
    if (kept >= 1) lane->buffers[1] = session_.allocate(bytes);
    if (decoding_) lane->decoded = decoding_->make_rows(plan_, timeline_);
    for (std::size_t i = 0; i < stored_; ++i) {
      lane->passes.emplace_back();
      if (is_on_processor(i)) continue;
      const ScopedSpan span(timeline_, build_span(i));
      lane->passes.back() = prepare_group(plan_, groups_[i], session_);
    }
    if (plan_.measure) prepare_measuring(*lane);
    if (plan_.coding) {
      const ScopedSpan span(timeline_, build_span(stored_));
      lane->encoder = std::make_unique<JpegEncoder>(
          session_, *plan_.coding, plan_.band_rows,
          JpegEncoder::suitable_bytes(*plan_.coding, plan_.band_rows));
    }
    return lane;
  }

  void prepare_measuring(Lane& lane) {
    const ScopedSpan span(timeline_, build_span(stored_));
    if (counts_) {
      lane.counting = prepare_counting(plan_, groups_.back(), session_);
    } else {
      lane.reducer = std::make_unique<PictureReducer>(session_, plan_.output().size.width,
                                                      plan_.output().format, *plan_.measure);
    }
  }

  [[nodiscard]] Span build_span(std::size_t group) const {
    return {.activity = Activity::build_program, .pass = pass_number(group)};
  }

  // Calls work(lane, input, commands) with the input of the passes on the device; `work` waits for
  // what it queues. A device that hangs keeps the lane and its memory.
  template <typename Work>
  void on_lane(const ConstRows& rows, const RowRange& band, const Work& work) {
    std::unique_ptr<Lane> lane = lanes_.take([this] { return make_lane(); });
    try {
      BandCommands commands(band, timeline_);
      lane->before = run_first(first_on_device_, rows, band);
      const ConstRows source = first_on_device_ > 0 ? std::as_const(lane->before).rows() : rows;
      const Buffer borrowed = bring(*lane, source, commands);
      work(*lane, takes_in_place() ? borrowed : lane->buffers[0], commands);
      commands.record();
    } catch (const DeviceHangs&) {
      static_cast<void>(lane.release());
      lanes_.lost();
      throw;
    } catch (...) {
      lane.reset();
      lanes_.lost();
      throw;
    }
    lane->before = {};
    lane->between = {};
    lanes_.put(std::move(lane));
  }

  static void download(Lane& lane, const Buffer& from, std::uint8_t* to, std::size_t bytes,
                       BandCommands& commands) {
    commands.add(lane.queue.download(from, to, bytes), Activity::download, -1, bytes);
    lane.queue.finish();
  }

  // Makes the band's input available to the device: copied or decoded into the lane's first buffer,
  // or in place as the returned buffer.
  Buffer bring(Lane& lane, const ConstRows& source, BandCommands& commands) {
    if (decoding_) {
      lane.decoded->enqueue(lane.queue, {&lane.buffers[0], source.rows}, noted_in(commands));
      return {};
    }
    const std::size_t bytes = bytes_of(source.rows, source.pitch);
    if (!in_place_) {
      commands.add(lane.queue.upload(lane.buffers[0], source.data, bytes), Activity::upload, -1,
                   bytes);
      return {};
    }
    const ScopedSpan span(timeline_, {.activity = Activity::upload,
                                      .first_row = source.rows.begin,
                                      .rows = source.rows.count()});
    return session_.borrow(source.data, bytes + row_slack);
  }

  // Queues the passes that store; returns the buffer that will hold the rows of the last one. This
  // is `last` if it is given and there is such a pass.
  const Buffer& run_passes(Lane& lane, const Buffer& input, const RowRange& band,
                           const Buffer* last, BandCommands& commands) {
    const auto windows = plan_.windows(band);
    const Buffer* result = &input;
    for (std::size_t i = first_on_device_; i < stored_; ++i) {
      const PictureShape& before = plan_.passes[groups_[i].first].input;
      const PictureShape& after = plan_.passes[groups_[i].end - 1].output;
      const bool is_last = i + 1 == stored_;
      const DeviceRows from{result, windows[groups_[i].first]};
      result = is_last && last != nullptr ? last : &lane.buffers[(i - first_on_device_ + 1) % 2];
      const DeviceRows to{result, windows[groups_[i].end]};
      if (!lane.passes[i]) {
        run_between(lane, i, from, to, commands);
        continue;
      }
      commands.add_kernels(
          enqueue(lane, i, from, to), pass_number(i),
          bytes_of(from.rows, row_pitch(before)) + bytes_of(to.rows, row_pitch(after)));
    }
    return *result;
  }

  // Rows of a launch. A GPU filters a band in milliseconds; a processor takes so long for some
  // kernels that a band is divided, so that a stop takes effect between its parts, and nothing may
  // be queued behind them.
  [[nodiscard]] int rows_of_launch(std::size_t group, int all) const {
    if (!waits_for_launches()) return all;
    constexpr int minimum = 32;  // of which kernels make full work-groups
    int rows = all;
    for (std::size_t i = groups_[group].first; i < groups_[group].end; ++i)
      rows = std::min(rows, std::max(rows_between_checks(plan_.passes[i], all), minimum));
    return rows;
  }

  [[nodiscard]] bool waits_for_launches() const {
    return in_place_ && stop_of_this_call().stop_possible();
  }

  std::optional<CodedRows> encode(Lane& lane, const DeviceRows& rows, BandCommands& commands) {
    const std::size_t bytes = bytes_of(rows.rows, row_pitch(plan_.output()));
    JpegEncoder::Commands coding;
    auto coded = lane.encoder->encode(lane.queue, rows, coding);
    const std::size_t coded_bytes = coded ? coded->bytes.size() : 0;
    commands.add_kernels(std::move(coding.blocks), pass_number(stored_), bytes + coded_bytes);
    commands.add_kernels(std::move(coding.joining), pass_number(stored_ + 1), 2 * coded_bytes);
    for (Event& download : coding.downloads)
      commands.add(std::move(download), Activity::download, -1, 0);
    return coded;
  }

  // Kernels work within the picture: rows past its edges are filled separately, numbered as the
  // rows that they repeat.
  [[nodiscard]] std::vector<Event> enqueue(Lane& lane, std::size_t group, const DeviceRows& from,
                                           const DeviceRows& to) const {
    const ImageSize input = first_pass(group).input.size;
    const ImageSize output = plan_.passes[groups_[group].end - 1].output.size;
    std::vector<Event> events;
    const int step = rows_of_launch(group, to.rows.count());
    for (const RepeatedRows& part : cut_at_edges(to.rows, output.height)) {
      const DeviceRows source{from.buffer, from.rows.moved(-part.repeats * input.height)};
      for (int y = part.rows.begin; y < part.rows.end; y += step) {
        if (waits_for_launches()) lane.queue.finish();
        check_stop();
        const RowRange rows{y, std::min(y + step, part.rows.end)};
        const DeviceRows target{to.buffer, rows.moved(-part.repeats * output.height),
                                rows.begin - to.rows.begin};
        for (Event& event : lane.passes[group]->enqueue(lane.queue, source, target))
          events.push_back(std::move(event));
      }
    }
    return events;
  }

  // Pinned memory, if bytes have to be copied and the device has any.
  [[nodiscard]] ImagePool make_pool() {
    if (in_place_) return {};
    return ImagePool([this](std::size_t bytes) {
      try {
        return session_.allocate_pinned(bytes);
      } catch (const DeviceError& error) {
        log::debug(formatted("{}; ordinary memory is used", error.what()));
        return allocate_image_memory(bytes);
      }
    });
  }

  const Plan& plan_;
  std::vector<PassGroup> groups_;
  bool counts_;                      // whether the last group counts its result
  std::size_t stored_;               // the number of groups that store their results
  std::size_t first_on_device_ = 0;  // the groups before it are the processor's
  Session& session_;
  Timeline& timeline_;
  bool in_place_;  // the device works in the host's memory: nothing is copied
  ImagePool pool_;
  std::unique_ptr<DeviceDecoding> decoding_;  // if the device decodes the picture
  int first_pass_;                            // of the groups, in the reports
  Lanes lanes_;
  std::vector<PassReport> reports_;
};

}  // namespace

std::unique_ptr<BandExecutor> make_device_executor(const Plan& plan, Session& session,
                                                   Timeline& timeline, bool fuse,
                                                   const JpegScan* scan) {
  return std::make_unique<DeviceExecutor>(plan, session, timeline, fuse, scan);
}

}  // namespace gpufilter
