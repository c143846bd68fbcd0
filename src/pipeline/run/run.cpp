#include "pipeline/run/run.hpp"

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <set>
#include <utility>
#include <variant>

#include <unistd.h>

#include "base/error.hpp"
#include "base/format.hpp"
#include "base/log.hpp"
#include "codec/byte_sink.hpp"
#include "codec/byte_source.hpp"
#include "pipeline/execute/device_decoding.hpp"
#include "pipeline/run/chain_walk.hpp"
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

// The task, for the choice of the device. `file_bytes`: size of the input; 0: unknown.
PictureTask picture_task(const PictureHeader& header, const LoweredChain& chain,
                         const Codec& output_format, std::uint64_t file_bytes) {
  return {.shape = header.shape(),
          .chain = chain,
          .decoding = header.file_format->decoding,
          .encoding = output_format.encoding,
          .parallel_encoding = output_format.encodes_in_parallel,
          .file_bytes = file_bytes};
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

void describe_output(OutputReport& report, const ChainOutput& output, const PictureShape& shape,
                     const WriteOptions& options) {
  const Codec& format = *output.format;
  report.output = output.path;
  report.kept = output.keep;
  report.output_format = &format;
  report.output_size = shape.size;
  report.output_pixel = shape.format;
  report.output_file_pixels = pixels_in_file(format, shape.format);
  if (!format.holds_alpha && shape.format.has_alpha())
    report.background = options.get<Color>(background_option());
}

// A picture whose border wraps is kept in memory as a whole. Throws PictureError.
void check_wrapping(const std::string& name, const Plan& plan, const ReadLimits& limits) {
  if (!plan.reads_past_edges()) return;
  check_memory(name,
               std::uint64_t{row_pitch(plan.input)} * static_cast<unsigned>(plan.input.size.height),
               limits, "a picture whose border wraps", "choose another border");
}

// Filters one picture from its file to its outputs.
class PictureRun {
 public:
  PictureRun(const std::string& input, const ChainOutput& output, const StageChain& chain,
             Dispatcher& dispatcher, const RunOptions& options)
      : asked_(chain), places_(options.outputs), dispatcher_(dispatcher), options_(options) {
    report_.input = input;
    places_.push_back(output);
    places_.back().stages = chain.size();
    std::set<std::pair<std::size_t, std::optional<std::size_t>>> ends;
    for (const ChainOutput& place : places_)
      ends.emplace(place.stages, place.branch);
    parts_ = ends.size();
  }

  RunReport run(Nanoseconds start) {
    report_.start = start;
    begin();
    outputs_.emplace(report_, *input_, chains_, places_, options_);
    outputs_->load();
    if (outputs_->are_without_rows()) {
      write_stored();
    } else {
      filter();
    }
    report_.total = now() - report_.start;
    return std::move(report_);
  }

  // Describes what run() would do, as far as it is known before the first row.
  RunReport preview() {
    begin();
    const PictureHeader& header = input_->header();
    report_.exif_orientation = input_->orientation();
    describe_formats();
    outputs_.emplace(report_, *input_, chains_, places_, options_);
    outputs_->describe();
    if (const int largest = decoding_divisor(); largest > 1)
      report_.decoding_divisor = input_->decode_smaller(largest);
    for (const ChainOutput& place : places_) {
      if (!options_.open_output) check_folder_of(place.path);
    }
    report_.engine =
        outputs_->are_without_rows()
            ? engine_of_stored(outputs_->account())
            : expected_engine(dispatcher_, picture_task(header, chains_.main, output_format(),
                                                        bytes_of_file(report_.input)));
    for (std::size_t i = 0; i < places_.size(); ++i) {
      OutputReport& file = report_.on_output(i);
      file.encoding = expected_encoding(file, header, options_.write, outputs_->stored_part(i));
    }
    return std::move(report_);
  }

  // After run() threw DeviceError: leaves the device, if another run can do without it. Files are
  // as they were before.
  [[nodiscard]] bool leave_device(const DeviceError& failure) const {
    const auto is_written_once = [](const auto& place) { return is_stream(place.path); };
    return session_ && !is_stream(report_.input) &&
           std::none_of(places_.begin(), places_.end(), is_written_once) &&
           assignment_.engine->leave(*session_, failure.what());
  }

 private:
  void filter() {
    const PictureTask task = assign(input_->header());
    settle(
        chains_.main, first_stage_,
        [&](std::size_t i, Quantity quantity) { return measure(i, quantity); },
        [&](std::size_t i) { return keep(i); },
        [&] {
          adapt_branches();
          check_all_results();
        });
    write();
    report_.total = now() - report_.start;
    assignment_.lease.reset();
    dispatcher_.completed(task, report_);
  }

  // Without a walk through the picture's rows.
  void write_stored() {
    dispatcher_.await_choice();
    describe();
    report_.engine = engine_of_stored(outputs_->account());
    for (const auto& stage : chains_.main)
      report_.passes.push_back({{stage.title.label, "without decoding"}, stage.title.name});
    report_.result_passes = report_.passes.size();
    finish_stored();
  }

  // Opens the outputs that are left, to which no rows are written, and completes all of them.
  void finish_stored() {
    while (outputs_->count() < places_.size())
      outputs_->open();
    Timeline timeline;
    outputs_->finish(timeline, {.activity = Activity::write_stored, .walk = walk_});
    report_.spans.push_back(timeline.spans().back());
    const std::int64_t all = std::int64_t{walks_} * report_.size.height;
    if (options_.on_progress) options_.on_progress(all, all);
  }

  // Reads the picture for the statistics of what the stages before the one at `index` yield. If a
  // device fails, its part of them is lost, and they are gathered anew without it.
  PictureStatistics measure(std::size_t index, Quantity quantity) {
    for (;;) {
      try {
        return measure_once(index, quantity);
      } catch (const DeviceError& error) {
        const auto failed = std::exchange(session_, nullptr);
        if (!failed || !assignment_.engine->leave(*failed, error.what())) throw;
      }
    }
  }

  PictureStatistics measure_once(std::size_t index, Quantity quantity) {
    ChainWalk walk(*input_);
    prepare(walk, part_of(chains_.main, first_stage_, index), quantity);
    ChainPart& part = walk.first();
    // Statistics cover the whole picture, so the processor gathers all of them for comparison.
    Timeline unused;
    std::optional<Plan> second_plan;
    std::unique_ptr<BandExecutor> second;
    if (part.prepared().report.kind != processor_kind && options_.verify_blocks > 0) {
      second_plan = part.plan_on_processor();
      second = make_host_executor(*second_plan, &unused);
    }
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
                    chains_.main[index].title.name, part.prepared().report.device));
    }
    walk.add_to(report_, walk_++);
    return statistics;
  }

  // Keeps the result of the stages before `index`, as that stage demands; later stages begin there.
  // Returns whether a part of the stage's work is left.
  bool keep(std::size_t index) {
    ChainWalk walk(*input_);
    const StepTitle title = chains_.main[index].title;
    const Turn turn = *chains_.main[index].demand->whole;
    note_changes(index);
    changed_ = changed_ || !turn.changes_nothing();
    const PictureShape shape =
        output_of(part_of(chains_.main, first_stage_, index), input_->shape());
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
      return meet_demand(chains_.main, index, *kept);
    }();
    walk.add_to(report_, walk_);
    describe_kept(title, in_memory);
    ++walk_;
    input_->replace(std::move(kept));
    kept_memory_ = input_->memory();
    return is_left;
  }

  // Whether a picture of `bytes` bytes is kept in memory; if so, reserves it, which leaves less for
  // the bands.
  [[nodiscard]] bool reserve_memory(std::uint64_t bytes) {
    const bool fits = input_->memory() + bytes <= options_.max_memory / 4 * 3;
    kept_memory_ = input_->memory() + (fits ? bytes : 0);
    return fits;
  }

  // Notes whether the stages before `end`, once known, change the picture.
  void note_changes(std::size_t end) {
    changed_ = changed_ || report_.decoding_divisor > 1 ||
               !change_nothing(part_of(chains_.main, first_stage_, end), input_->shape());
  }

  void write() {
    note_changes(chains_.main.size());
    if (!changed_ && outputs_->count() + 1 == places_.size() && outputs_->copy_last()) {
      describe();
      return finish_stored();
    }
    ChainWalk walk(*input_);
    prepare_with_outputs(walk, chains_.main.size());
    const Plan& plan = walk.first().plan();
    report_.bands = static_cast<int>(plan.bands().size());
    report_.band_rows = std::min(plan.band_rows, plan.output().size.height);
    report_.bands_under_way =
        std::min(bands_in_flight(plan, memory_of_bands()), static_cast<std::size_t>(report_.bands));
    report_.memory = plan.band_memory(plan.band_rows) * report_.bands_under_way + decoder_.data;
    walk_bands(
        walk, [&](Band& band) { walk.first().filter(band); },
        [&](const Band& band) { walk.take(band); });
    input_->finish(walk.reader());
    outputs_->finish(walk.last().timeline(), {.activity = Activity::encode});
    report_.result_passes += static_cast<std::size_t>(walk.pass_count());
    walk.add_to(report_, walk_++);
  }

  // Prepares a walk through the stages before `end`, with the outputs among them.
  void prepare_with_outputs(ChainWalk& walk, std::size_t end) {
    adapt_branches();
    const auto place_of = [&](std::size_t output) {
      return output == places_.size() ? end : std::min(end, places_[output].stages);
    };
    prepare(walk, part_of(chains_.main, first_stage_, place_of(outputs_->count())), std::nullopt,
            end == chains_.main.size() ? coding_of_result() : std::nullopt);
    describe();
    PictureShape shape = walk.first().output();
    while (outputs_->count() < places_.size() && places_[outputs_->count()].stages <= end) {
      const std::size_t number = outputs_->count();
      const auto branch = places_[number].branch;
      PictureOutput& output = outputs_->open();
      auto next = make_part(shape, part_of(chains_.main, place_of(number), place_of(number + 1)));
      if (branch && number > 0 && places_[number - 1].branch == branch) {
        walk.add_copy(output, std::move(next));
      } else {
        auto own = branch ? make_part(shape, chains_.branches[*branch]) : nullptr;
        walk.add_output(output, std::move(own), std::move(next));
      }
      shape = walk.last().output();
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

  // Lowers the chain and chooses the device, once the header is read.
  void begin() {
    const Nanoseconds start = now();
    input_.emplace(report_.input, asked_, options_);
    report_.spans.push_back(
        {.activity = Activity::decode, .start = start, .duration = now() - start});
    const PictureHeader& header = input_->header();
    report_.size = header.size;
    report_.input_pixel = header.format;
    report_.others.resize(places_.size() - 1);
    for (std::size_t i = 0; i < places_.size(); ++i) {
      ChainOutput& place = places_[i];
      report_.on_output(i).is_oriented =
          depends_on_orientation(chain_to(place, asked_, options_.branches));
      if (place.format == nullptr) place.format = header.file_format;
    }
    chains_ = lower_for(asked_, options_.branches, *input_, places_);
    walks_ += static_cast<int>(std::ranges::count_if(
        chains_.main, [](const LoweredStage& stage) { return stage.demand.has_value(); }));
    check_all_results();
  }

  // Once the shape is known that the stages so far leave.
  void adapt_branches() { lower_branches_again(chains_, places_, first_stage_, input_->shape()); }

  void check_all_results() const {
    const PictureShape shape = input_->header().shape();
    check_results(input_->name(), shape, chains_.main, options_.limits);
    for (const ChainOutput& place : places_) {
      if (place.branch) check_results(input_->name(), shape, chains_.to(place), options_.limits);
    }
  }

  [[nodiscard]] const Codec& output_format() const { return *places_.back().format; }

  // By how much the outputs allow the picture to be decoded smaller: for each, the first stage that
  // does more than turn it has to allow it. One between two stages may be without rows.
  [[nodiscard]] int decoding_divisor() const {
    const std::vector<bool> ignored = outputs_->without_rows();
    std::optional<int> divisor;
    for (std::size_t i = 0; i < places_.size(); ++i) {
      if (ignored[i] && !places_[i].branch && i + 1 < places_.size()) continue;
      const LoweredChain chain = chains_.to(places_[i]);
      PictureShape shape = input_->shape();
      const std::size_t turns = count_turns(chain, shape);
      const int own = turns == chain.size() ? 1 : chain[turns].decoding_divisor;
      divisor = std::min(divisor.value_or(own), own);
    }
    return divisor.value_or(1);
  }

  // Has the input decoded as small as the chain allows, and changes the chain accordingly. Returns
  // the divisor.
  int decode_smaller() {
    const PictureShape whole = input_->shape();
    const int largest = decoding_divisor();
    const int divisor = largest == 1 ? 1 : input_->decode_smaller(largest);
    if (divisor > 1) lower_for_smaller(chains_, places_, *input_, whole, divisor);
    return divisor;
  }

  // Has a device assigned; returns what it is assigned for.
  PictureTask assign(const PictureHeader& header) {
    report_.decoding_divisor = decode_smaller();
    PictureTask task =
        picture_task(header, chains_.main, output_format(), bytes_of_file(report_.input));
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
    if (format.coding == nullptr || options_.encode_on == EncodeOn::cpu || places_.size() > 1 ||
        places_.back().keep || options_.verify_blocks > 0)
      return std::nullopt;
    PictureHeader header = input_->header();
    const auto rest = part_of(chains_.main, first_stage_, chains_.main.size());
    header.set_shape(output_of(rest, input_->shape()));
    return format.coding(header, options_.write);
  }

  void describe() {
    describe_formats();
    outputs_->describe();
  }

  // Fills in the sizes, the formats of all files and of the pixels, and the warnings. Throws
  // UsageError if the chain cannot work on such a picture.
  void describe_formats() {
    const PictureHeader& header = input_->header();
    report_.input_format = header.file_format;
    report_.size = header.size;
    report_.input_pixel = header.format;
    report_.input_file_pixels = header.file_pixels;
    report_.stage_warnings.clear();
    for (const LoweredStage& stage : chains_.main) {
      if (!stage.warning.empty()) report_.stage_warnings.push_back(stage.warning);
    }
    for (std::size_t i = 0; i < places_.size(); ++i) {
      const PictureShape shape = output_of(chains_.to(places_[i]), header.shape());
      describe_output(report_.on_output(i), places_[i], shape, options_.write);
    }
  }

  // Adds a pass to this walk: the picture was kept, in memory or in a file, for `stage`.
  void describe_kept(const StepTitle& stage, bool in_memory) {
    // No work is reported: estimates must not learn from its speed.
    const char* where = in_memory ? "the processor, whole picture in memory"
                                  : "the processor, whole picture in a temporary file";
    if (report_.passes.empty()) report_.engine = engine_that_turns();
    report_.passes.push_back({{host_variant(stage.label), where}, stage.name, walk_});
    ++report_.result_passes;
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
          if (in_order) walk.take(band, take);
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
    return left / parts_ + decoder_.extra - decoder_.data;
  }

  // In rows of the input, whatever the height of a walk's result.
  void progress(const RowRange& band, int height_of_result) const {
    if (!options_.on_progress) return;
    const std::int64_t height = report_.size.height;
    options_.on_progress(walk_ * height + band.end * height / height_of_result, walks_ * height);
  }

  const StageChain& asked_;
  LoweredTree chains_;
  std::vector<ChainOutput> places_;  // of all outputs, in `chains_`
  std::size_t parts_;                // of the chain, each with bands in memory
  int walks_ = 1;
  int walk_ = 0;  // number of finished walks
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

RunReport filter_picture(const std::string& input, const ChainOutput& output,
                         const StageChain& chain, Dispatcher& dispatcher,
                         const RunOptions& options) {
  const Nanoseconds start = options.start.value_or(now());
  for (;;) {
    PictureRun run(input, output, chain, dispatcher, options);
    try {
      return run.run(start);
    } catch (const DeviceError& error) {
      if (!run.leave_device(error)) throw;
    }
  }
}

RunReport filter_picture(const std::string& input, const ChainOutput& output,
                         const StageChain& chain, Engine& engine, const RunOptions& options) {
  Dispatcher dispatcher(engine);
  return filter_picture(input, output, chain, dispatcher, options);
}

RunReport preview_picture(const std::string& input, const ChainOutput& output,
                          const StageChain& chain, Dispatcher& dispatcher,
                          const RunOptions& options) {
  return PictureRun(input, output, chain, dispatcher, options).preview();
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
