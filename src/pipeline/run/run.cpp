#include "pipeline/run/run.hpp"

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <utility>
#include <variant>

#include <unistd.h>

#include "base/error.hpp"
#include "base/format.hpp"
#include "base/log.hpp"
#include "codec/byte_sink.hpp"
#include "codec/byte_source.hpp"
#include "pipeline/execute/device_decoding.hpp"
#include "pipeline/run/chain_part.hpp"
#include "pipeline/run/picture_output.hpp"
#include "pipeline/run/run_description.hpp"
#include "stage/options/catalogue.hpp"

namespace gpufilter {
namespace {

// Files appear under a temporary name in the folder, so the folder has to be writable.
void check_folder_of(const std::string& output) {
  if (is_stream(output)) return;
  const std::filesystem::path folder = std::filesystem::path(output).parent_path();
  if (::access(folder.empty() ? "." : folder.c_str(), W_OK | X_OK) == 0) return;
  throw PictureError(output, describe_creation_error(output, errno));
}

EngineReport expected_engine(Dispatcher& dispatcher, const PictureTask& task) {
  EngineReport report;
  const Assignment assignment = dispatcher.assign(task);
  assignment.engine->await_choice();
  if (task.chain.empty()) {
    report.reason = "no stage to run";
    return report;
  }
  if (std::ranges::all_of(task.chain, [](const LoweredStage& stage) {
        return stage.demand && stage.demand->whole;
      })) {
    return engine_that_turns();
  }
  report.device = assignment.engine->is_on_processor() ? "processor" : "OpenCL";
  report.reason = assignment.reason;
  return report;
}

// One walk through a picture: its input, the first part of the chain on its bands, and the outputs
// among the stages, each with the part that follows it.
class ChainWalk {
 public:
  using Take = PushedPart::Take;

  explicit ChainWalk(PictureInput& input) : first_(input.name()) {
    const ScopedSpan span(first_.timeline(), {.activity = input.reading()});
    reader_ = input.open();
  }

  // What the stages so far yield is written to `output`, which has to outlive the walk, and `next`
  // continues with it; nothing: no stage follows.
  void add_output(PictureOutput& output, std::unique_ptr<PushedPart> next) {
    outputs_.push_back(&output);
    next_.push_back(std::move(next));
  }

  [[nodiscard]] ReadAhead& reader() { return *reader_; }
  [[nodiscard]] bool has_outputs() const { return !outputs_.empty(); }
  // The stages before the first output; prepared before the others are added.
  [[nodiscard]] ChainPart& first() { return first_; }
  // The last stages: what they yield is the result of the walk.
  [[nodiscard]] ChainPart& last() {
    ChainPart* last = &first_;
    for (const auto& part : next_) {
      if (part) last = part.get();
    }
    return *last;
  }
  // The passes of all stages.
  [[nodiscard]] int pass_count() const {
    int count = first_.pass_count();
    for (const auto& part : next_)
      count += part ? part->pass_count() : 0;
    return count;
  }

  // Takes the result of the first stages, in order. Writes the outputs, and gives the result of the
  // walk to `last`.
  void take(const ConstRows& rows, const Take& last) { take(0, rows, first_.timeline(), last); }

  // Adds what all parts did to `report`, as the walk with this number.
  void add_to(RunReport& report, int number) const {
    first_.add_to(report, number);
    for (const auto& part : next_) {
      if (part) part->add_to(report, number);
    }
  }

 private:
  void take(std::size_t index, const ConstRows& rows, Timeline& timeline, const Take& last) {
    if (index == outputs_.size()) return last(rows);
    outputs_[index]->write(rows, timeline);
    if (!next_[index]) return take(index + 1, rows, timeline, last);
    PushedPart& next = *next_[index];
    next.push(rows,
              [&](const ConstRows& result) { take(index + 1, result, next.timeline(), last); });
  }

  std::unique_ptr<ReadAhead> reader_;
  ChainPart first_;
  std::vector<PictureOutput*> outputs_;
  std::vector<std::unique_ptr<PushedPart>> next_;  // after each output
};

// Filters one picture from its file to its outputs.
class PictureRun {
 public:
  PictureRun(const std::string& input, const Codec* output_format, const StageChain& chain,
             Dispatcher& dispatcher, const RunOptions& options, Nanoseconds start)
      : asked_(chain),
        places_(options.outputs),
        output_format_(output_format),
        dispatcher_(dispatcher),
        options_(options) {
    report_.start = start;
    report_.input = input;
  }

  RunReport run(const std::string& output) {
    begin();
    report_.output = output;
    outputs_.emplace(report_, *input_, chain_, places_, output_format(), options_);
    if (outputs_->stored().are_all()) {
      write_stored();
    } else {
      filter();
    }
    report_.total = now() - report_.start;
    return std::move(report_);
  }

  // What run() would do, as far as that is known before the first row.
  RunReport preview(const std::string& output) {
    begin();
    const PictureHeader& header = input_->header();
    const Codec& format = output_format();
    report_.output = output;
    report_.exif_orientation = input_->orientation();
    describe_formats(report_, header, chain_, format, places_, options_);
    const StoredOutputs stored(*input_, chain_, places_, format, options_);
    stored.describe(report_);
    if (!stored.are_copies()) report_.unread = header.unread;
    if (options_.refuse_unread) refuse_unread(*input_);
    const int largest = decoding_divisor(chain_, input_->shape(), places_, stored.without_rows());
    if (largest > 1) report_.decoding_divisor = input_->decode_smaller(largest);
    if (!options_.open_output) {
      check_folder_of(output);
      for (const OutputReport& other : report_.others)
        check_folder_of(other.output);
    }
    report_.engine = stored.are_all()
                         ? engine_of_stored(stored.account())
                         : expected_engine(dispatcher_, picture_task(header, chain_, format,
                                                                     bytes_of_file(report_.input)));
    for (std::size_t i = 0; i <= places_.size(); ++i) {
      OutputReport& file = i < places_.size() ? report_.others[i] : report_;
      file.encoding = expected_encoding(file, header, options_.write, stored.part(i));
    }
    return std::move(report_);
  }

  // After run() threw DeviceError: leaves the device, if another run can do without it. Files are
  // as they were before.
  [[nodiscard]] bool leave_device(const DeviceError& failure) const {
    const auto is_written_once = [](const auto& place) { return is_stream(place.path); };
    return session_ && !is_stream(report_.input) && !is_stream(report_.output) &&
           std::none_of(places_.begin(), places_.end(), is_written_once) &&
           assignment_.engine->leave(*session_, failure.what());
  }

 private:
  void filter() {
    const PictureTask task = assign(input_->header());
    settle(
        chain_, first_stage_,
        [&](std::size_t i, Quantity quantity) { return measure(i, quantity); },
        [&](std::size_t i) { return keep(i); },
        [&] { check_results(input_->name(), input_->header().shape(), chain_, options_.limits); });
    write();
    report_.total = now() - report_.start;
    assignment_.lease.reset();
    dispatcher_.completed(task, report_);
  }

  // Without a walk through the picture's rows.
  void write_stored() {
    dispatcher_.await_choice();
    describe();
    report_.engine = engine_of_stored(outputs_->stored().account());
    for (const auto& stage : chain_)
      report_.passes.push_back({{stage.title.label, "without decoding"}, stage.title.name});
    report_.result_passes = report_.passes.size();
    for (OutputReport& other : report_.others)
      outputs_->open(other);
    finish_stored();
  }

  // Opens the last output, to which no rows are written, and completes all of them.
  void finish_stored() {
    outputs_->open(report_);
    Timeline timeline;
    outputs_->finish(timeline, {.activity = Activity::write_stored, .walk = walk_});
    report_.spans.push_back(timeline.spans().back());
    const std::int64_t all = std::int64_t{walks_} * report_.size.height;
    if (options_.on_progress) options_.on_progress(all, all);
  }

  // Reads the picture for the statistics of what the stages before the one at `index` yield.
  PictureStatistics measure(std::size_t index, Quantity quantity) {
    ChainWalk walk(*input_);
    prepare(walk, part_of(chain_, first_stage_, index), quantity);
    ChainPart& part = walk.first();
    // Statistics cover the whole picture, so the processor gathers all of them for comparison.
    Timeline unused;
    const auto second = part.prepared().report.kind != processor_kind && options_.verify_blocks > 0
                            ? make_host_executor(part.plan(), &unused)
                            : nullptr;
    walk_bands(
        walk,
        [&](Band& band) {
          part.measure(band);
          if (second) second->measure(band.source->rows(), band.rows);
        },
        [](const Band&) {});
    static_cast<void>(walk.reader().finish());
    PictureStatistics statistics = part.prepared().executor->statistics();
    if (second && second->statistics() != statistics) {
      throw PictureError(
          report_.input,
          formatted("not verified: the statistics for {} by {} differ from the processor's",
                    chain_[index].title.name, part.prepared().report.device));
    }
    walk.add_to(report_, walk_++);
    return statistics;
  }

  // Keeps the result of the stages before the one at `index`, as that says. The stages after it
  // begin there. Returns whether a part of its work is left.
  bool keep(std::size_t index) {
    ChainWalk walk(*input_);
    const StepTitle title = chain_[index].title;
    const Turn turn = *chain_[index].demand->whole;
    note_changes(index);
    changed_ = changed_ || !turn.changes_nothing();
    const PictureShape shape = output_of(part_of(chain_, first_stage_, index), input_->shape());
    const bool in_memory = reserve_memory(KeptPicture::bytes_of(shape));
    prepare_with_outputs(walk, index);
    ChainPart& last = walk.last();
    auto kept = std::make_unique<KeptPicture>(shape, turn, last.plan().band_rows, in_memory,
                                              input_->name());
    const int pass = last.pass_count();
    filter_bands(walk, [&](const ConstRows& rows) {
      Span span = band_span(Activity::kernel, rows);
      span.pass = pass;
      span.bytes *= 2;
      const ScopedSpan timed(last.timeline(), span);
      kept->add(rows);
    });
    input_->finish(walk.reader());
    report_.result_passes += static_cast<std::size_t>(walk.pass_count());
    const bool is_left = [&] {
      const ScopedSpan span(last.timeline(), {.activity = Activity::kernel, .pass = pass});
      return meet_demand(chain_, index, *kept);
    }();
    walk.add_to(report_, walk_++);
    describe_kept(report_, title, in_memory, walk_ - 1);
    input_->replace(std::move(kept));
    kept_memory_ = input_->memory();
    return is_left;
  }

  // Whether a picture of `bytes` bytes is to be kept in memory, which the bands then lack.
  [[nodiscard]] bool reserve_memory(std::uint64_t bytes) {
    const bool fits = input_->memory() + bytes <= options_.max_memory / 4 * 3;
    kept_memory_ = input_->memory() + (fits ? bytes : 0);
    return fits;
  }

  // Whether the stages before the one at `end` change the picture, once they are known.
  void note_changes(std::size_t end) {
    changed_ = changed_ || report_.decoding_divisor > 1 ||
               !change_nothing(part_of(chain_, first_stage_, end), input_->shape());
  }

  void write() {
    note_changes(chain_.size());
    if (!changed_ && outputs_->count() == places_.size() && outputs_->stored().copy_last()) {
      describe();
      return finish_stored();
    }
    ChainWalk walk(*input_);
    prepare_with_outputs(walk, chain_.size());
    const Plan& plan = walk.first().plan();
    describe_bands(report_, plan, bands_in_flight(plan, memory_of_bands()));
    report_.memory += decoder_.data;
    PictureOutput& last = outputs_->open(report_);
    Timeline& timeline = walk.last().timeline();
    walk_bands(
        walk, [&](Band& band) { walk.first().filter(band); },
        [&](const Band& band) {
          if (band.coded) return last.write_coded(*band.coded, timeline);
          walk.take(band.output(), [&](const ConstRows& rows) { last.write(rows, timeline); });
        });
    input_->finish(walk.reader());
    outputs_->finish(timeline, {.activity = Activity::encode});
    report_.result_passes += static_cast<std::size_t>(walk.pass_count());
    walk.add_to(report_, walk_++);
  }

  // A walk through the stages before the one at `end`, with the outputs among them.
  void prepare_with_outputs(ChainWalk& walk, std::size_t end) {
    const auto place_of = [&](std::size_t output) {
      return std::min(end, output == places_.size() ? end : places_[output].stages);
    };
    prepare(walk, part_of(chain_, first_stage_, place_of(outputs_->count())), std::nullopt,
            end == chain_.size() ? coding_of_result() : std::nullopt);
    describe();
    PictureShape shape = walk.first().output();
    while (outputs_->count() < places_.size() && places_[outputs_->count()].stages <= end) {
      const std::size_t place = place_of(outputs_->count());
      PictureOutput& output = outputs_->open(report_.others[outputs_->count()]);
      auto next = make_part(shape, part_of(chain_, place, place_of(outputs_->count())));
      if (next) shape = next->output();
      walk.add_output(output, std::move(next));
    }
  }

  [[nodiscard]] std::unique_ptr<PushedPart> make_part(const PictureShape& input,
                                                      LoweredChain stages) const {
    if (stages.empty()) return nullptr;
    const Work work{input, std::move(stages), std::nullopt, memory_of_bands(), assignment_.reason};
    auto part = std::make_unique<PushedPart>(*assignment_.engine, work, options_.verify_blocks,
                                             input_->name());
    check_wrapping(input_->name(), part->plan(), options_.limits);
    return part;
  }

  // Once the header is read, the chain and the device are known.
  void begin() {
    const Nanoseconds start = now();
    input_.emplace(report_.input, asked_, options_);
    report_.spans.push_back(
        {.activity = Activity::decode, .start = start, .duration = now() - start});
    const PictureHeader& header = input_->header();
    report_.size = header.size;
    report_.input_pixel = header.format;
    describe_orientation(report_, asked_, places_);
    chain_ = lower_for(asked_, input_->name(), header, input_->orientation(), places_);
    walks_ += static_cast<int>(std::ranges::count_if(
        chain_, [](const LoweredStage& stage) { return stage.demand.has_value(); }));
    check_results(input_->name(), input_->header().shape(), chain_, options_.limits);
  }

  [[nodiscard]] const Codec& output_format() const {
    return output_format_ != nullptr ? *output_format_ : *input_->header().file_format;
  }

  // Has a device assigned; returns what it is assigned for.
  PictureTask assign(const PictureHeader& header) {
    report_.decoding_divisor =
        decode_smaller(*input_, chain_, places_, outputs_->stored().without_rows());
    PictureTask task = picture_task(header, chain_, output_format(), bytes_of_file(report_.input));
    if (report_.decoding_divisor > 1) {
      task.shape = input_->shape();
      task.decoding.kind += " smaller";
    }
    task.device_decodes = scan_for_device(options_, header, input_->jpeg_scan(), 0) != nullptr;
    task.device_encodes = coding_of_result().has_value();
    assignment_ = dispatcher_.assign(task);
    return task;
  }

  // Decodes a file while the device is being started. Not a pipe: waiting for its data would delay
  // work that does not depend on them.
  void prepare(ChainWalk& walk, LoweredChain chain, std::optional<Quantity> measure,
               const std::optional<JpegCoding>& coding = std::nullopt) {
    Engine& engine = *assignment_.engine;
    for (bool more = input_->is_file(); more && !engine.is_ready();) {
      const ScopedSpan span(walk.first().timeline(), {.activity = Activity::decode});
      more = walk.reader().read_on(memory_ahead());
    }
    decoder_ = {};
    Work work{input_->shape(), std::move(chain), measure, memory_of_bands(), assignment_.reason};
    const auto scan = walk.reader().jpeg_scan();
    work.scan = scan_for_device(options_, input_->header(), scan, walk.reader().rows_decoded());
    work.decoder_memory = options_.decoder_memory;
    work.any_device_decodes = options_.decode_on == DecodeOn::gpu;
    if (work.scan != nullptr && !slot_) slot_ = engine.acquire_slot();
    work.coding = coding;
    work.any_device_codes = options_.encode_on == EncodeOn::gpu;
    walk.first().prepare(engine, work, options_.verify_blocks);
    session_ = walk.first().prepared().session;
    decoder_ = walk.first().prepared().decoder;
    if (work.any_device_decodes && work.scan != nullptr && decoder_.data == 0)
      log::info(formatted("{}: the processor decodes it", report_.input));
    check_wrapping(input_->name(), walk.first().plan(), options_.limits);
  }

  // How a device may code the result. Blocks to be verified are compared as samples.
  [[nodiscard]] std::optional<JpegCoding> coding_of_result() const {
    const Codec& format = output_format();
    if (format.coding == nullptr || options_.encode_on == EncodeOn::cpu || !places_.empty() ||
        options_.keep_last_output || options_.verify_blocks > 0)
      return std::nullopt;
    PictureHeader header = input_->header();
    const auto rest = part_of(chain_, first_stage_, chain_.size());
    header.set_shape(output_of(rest, input_->shape()));
    return format.coding(header, options_.write);
  }

  void describe() {
    describe_formats(report_, input_->header(), chain_, output_format(), places_, options_);
    outputs_->stored().describe(report_);
  }

  // Gives all bands of the walk's result to `take`, in any order if there are no outputs among the
  // stages.
  template <typename Take>
  void filter_bands(ChainWalk& walk, const Take& take) {
    const bool in_order = walk.has_outputs();
    walk_bands(
        walk,
        [&](Band& band) {
          walk.first().filter(band);
          if (!in_order) take(band.output());
        },
        [&](const Band& band) {
          if (in_order) walk.take(band.output(), take);
        });
  }

  // Walks through the bands and shows the progress.
  template <typename Work, typename Take>
  void walk_bands(ChainWalk& walk, const Work& work, const Take& take) {
    walk.first().walk(walk.reader(), memory_of_bands(), input_->reading(), work,
                      [&](const Band& band) {
                        take(band);
                        progress(band.rows, walk.first().output().size.height);
                      });
  }

  [[nodiscard]] std::uint64_t memory_left() const { return options_.max_memory - kept_memory_; }
  [[nodiscard]] std::uint64_t memory_ahead() const { return memory_left() / 4; }
  // For the stages between two outputs.
  [[nodiscard]] std::uint64_t memory_of_bands() const {
    const std::uint64_t left = memory_left() - memory_ahead();
    return left / (places_.size() + 1) + decoder_.extra - decoder_.data;
  }

  // In rows of the input, whatever the height of a walk's result.
  void progress(const RowRange& band, int height_of_result) const {
    if (!options_.on_progress) return;
    const std::int64_t height = report_.size.height;
    options_.on_progress(walk_ * height + band.end * height / height_of_result, walks_ * height);
  }

  const StageChain& asked_;
  LoweredChain chain_;
  std::vector<ChainOutput> places_;  // of the outputs but the last, in `chain_`
  int walks_ = 1;
  int walk_ = 0;                // number of finished walks
  const Codec* output_format_;  // nullptr: the input's
  Dispatcher& dispatcher_;
  const RunOptions& options_;
  std::optional<PictureInput> input_;
  std::size_t first_stage_ = 0;    // of those that still have to run
  bool changed_ = false;           // by the stages before that one
  std::uint64_t kept_memory_ = 0;  // bytes of pictures kept between stages
  DecoderMemory decoder_;          // of the device that decodes in this walk
  Assignment assignment_;
  std::shared_ptr<void> slot_;        // of the engine; see Engine::acquire_slot()
  std::shared_ptr<Session> session_;  // of the last walk; nullptr: on the processor
  RunReport report_;
  std::optional<RunOutputs> outputs_;
};

}  // namespace

RunReport filter_picture(const std::string& input, const std::string& output,
                         const Codec* output_format, const StageChain& chain,
                         Dispatcher& dispatcher, const RunOptions& options) {
  const Nanoseconds start = options.start.value_or(now());
  for (;;) {
    PictureRun run(input, output_format, chain, dispatcher, options, start);
    try {
      return run.run(output);
    } catch (const DeviceError& error) {
      if (!run.leave_device(error)) throw;
    }
  }
}

RunReport filter_picture(const std::string& input, const std::string& output,
                         const Codec* output_format, const StageChain& chain, Engine& engine,
                         const RunOptions& options) {
  Dispatcher dispatcher(engine);
  return filter_picture(input, output, output_format, chain, dispatcher, options);
}

RunReport preview_picture(const std::string& input, const std::string& output,
                          const Codec* output_format, const StageChain& chain,
                          Dispatcher& dispatcher, const RunOptions& options) {
  return PictureRun(input, output_format, chain, dispatcher, options, 0).preview(output);
}

CountedPicture count_picture(RowReader& reader, Engine& engine, const std::string& reason,
                             const OnProgress& on_progress) {
  constexpr std::uint64_t band_memory = std::uint64_t{96}
                                        << 20U;  // that bands in progress may take
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

const std::vector<std::pair<std::string, OrientationRule>>& orientation_rules() {
  static const std::vector<std::pair<std::string, OrientationRule>> rules{
      {"auto", OrientationRule::automatic},
      {"apply", OrientationRule::apply},
      {"keep", OrientationRule::keep}};
  return rules;
}

void add_upright_stage(StageChain& chain, OrientationRule rule, std::vector<ChainOutput>& outputs) {
  if (rule == OrientationRule::keep) return;
  const auto asks = [&](const auto& stage) {
    const StageTraits traits = stage->traits();
    return rule == OrientationRule::apply || traits.has_up || traits.turns_upright;
  };
  const auto place = std::find_if(chain.begin(), chain.end(), asks);
  const bool at_end = place == chain.end();
  if (at_end ? rule == OrientationRule::automatic : (*place)->traits().turns_upright) return;
  const auto stages = static_cast<std::size_t>(place - chain.begin());
  for (ChainOutput& output : outputs) {
    if (output.stages > stages || rule == OrientationRule::apply) ++output.stages;
  }
  chain.insert(place, auto_orient_stage_kind().make(""));
}

}  // namespace gpufilter
