#include "pipeline/run.hpp"

#include <algorithm>
#include <filesystem>
#include <random>

#include "base/error.hpp"
#include "base/format.hpp"
#include "base/log.hpp"
#include "pipeline/band_walk.hpp"
#include "pipeline/block_check.hpp"
#include "pipeline/picture_input.hpp"
#include "pipeline/run_description.hpp"
#include "stages/linear.hpp"

namespace gpufilter {
namespace {

// 0 if there is no such file.
std::uint64_t bytes_of_file(const std::string& path) {
  std::error_code error;
  const auto bytes = std::filesystem::file_size(path, error);
  return error ? 0 : bytes;
}

// One walk through the picture: the opened input, and the work on its bands.
struct Walk {
  explicit Walk(PictureInput& input) {
    const ScopedSpan span(timeline, {.activity = input.reading()});
    reader = input.open();
  }

  std::unique_ptr<ReadAhead> reader;
  Prepared prepared;
  Timeline timeline;
  ImagePool plain_memory;

  [[nodiscard]] ImagePool& pool() {
    return prepared.executor ? prepared.executor->pool() : plain_memory;
  }
  [[nodiscard]] int pass_count() const {
    return prepared.executor ? static_cast<int>(prepared.executor->passes().size()) : 0;
  }
};

// Learns nothing.
class OnEngine final : public Dispatcher {
 public:
  explicit OnEngine(Engine& engine) : engine_(engine) {}
  [[nodiscard]] Assignment assign(const PictureTask& /*task*/) override {
    return {&engine_, {}, nullptr};
  }

 private:
  Engine& engine_;
};

class PictureRun {
 public:
  PictureRun(const std::string& input, const Codec* output_format, const StageChain& chain,
             Dispatcher& dispatcher, const RunOptions& options)
      : chain_(chain), output_format_(output_format), dispatcher_(dispatcher), options_(options) {
    report_.start = options.start.value_or(now());
    report_.input = input;
  }

  RunReport run(const std::string& output) {
    begin();
    for (std::size_t i = 0; i < chain_.size(); ++i) {
      if (chain_[i]->needs()) resolve(i);
      if (chain_[i]->keeps_source()) keep(i);
    }
    write(output);
    report_.total = now() - report_.start;
    assignment_.lease.reset();
    dispatcher_.completed(task_, report_);
    return std::move(report_);
  }

 private:
  // Reads the picture for the statistics of its input that the stage at `index` needs.
  void resolve(std::size_t index) {
    Walk walk(*input_);
    prepare(walk, stages_before(index), chain_[index]->needs());
    const Plan& plan = *walk.prepared.plan;
    // Statistics cover the whole picture, so the processor gathers all of them for comparison.
    Timeline unused;
    const auto second =
        on_device(walk) && options_.verify_blocks > 0 ? make_host_executor(plan, unused) : nullptr;
    walk_bands(
        walk,
        [&](Band& band) {
          walk.prepared.executor->measure(band.image.rows(), band.rows);
          if (second) second->measure(band.image.rows(), band.rows);
        },
        [](const Band&) {});
    static_cast<void>(walk.reader->finish());
    if (second && second->statistics() != walk.prepared.executor->statistics()) {
      throw PictureError(report_.input,
                         formatted("not verified: the statistics for {} by {} differ from the "
                                   "processor's",
                                   chain_[index]->name(), walk.prepared.report.device));
    }
    chain_[index] =
        chain_[index]->resolved(walk.prepared.executor->statistics(), plan.output().format);
    close(walk);
  }

  // Keeps the result of the stages before the one at `index`, as that says. The stages after it
  // begin there.
  void keep(std::size_t index) {
    Walk walk(*input_);
    const Stage& stage = *chain_[index];
    StageChain before = stages_before(index);
    PictureShape shape = input_->shape();
    for (const auto& earlier : before)
      shape = earlier->output(shape);
    const bool in_memory = reserve_memory(KeptPicture::bytes_of(shape));
    prepare(walk, std::move(before), std::nullopt);
    auto kept = std::make_unique<KeptPicture>(
        shape, *stage.keeps_source(), walk.prepared.plan->band_rows, in_memory, input_->name());
    const Check check = make_check(walk);
    const int pass = walk.pass_count();
    walk_bands(
        walk,
        [&](Band& band) {
          filter(walk, band, check);
          Span span = band_span(Activity::kernel, band.image.rows());
          span.pass = pass;
          span.bytes *= 2;
          const ScopedSpan timed(walk.timeline, span);
          kept->add(band.image.rows());
        },
        [](const Band&) {});
    input_->finish(*walk.reader);
    note(check);
    report_.result_passes += static_cast<std::size_t>(pass);
    auto rest = [&] {
      const ScopedSpan span(walk.timeline, {.activity = Activity::kernel, .pass = pass});
      return stage.rest_of(*kept);
    }();
    close(walk);
    describe_kept(stage, in_memory);
    input_->replace(std::move(kept));
    kept_memory_ = input_->memory();
    continue_with(std::move(rest), index);
  }

  // Whether a picture of so many bytes is to be kept in memory, which the bands then lack.
  [[nodiscard]] bool reserve_memory(std::uint64_t bytes) {
    const bool fits = input_->memory() + bytes <= options_.max_memory / 4 * 3;
    kept_memory_ = input_->memory() + (fits ? bytes : 0);
    return fits;
  }

  // Adds a pass to the walk that was closed last.
  void describe_kept(const Stage& stage, bool in_memory) {
    const bool is_first = report_.passes.empty();
    report_.passes.push_back(describe_keeping(stage, in_memory));
    report_.passes.back().walk = walk_ - 1;
    ++report_.result_passes;
    if (is_first) report_.engine = engine_that_turns();
  }

  // After the stage at `index`, its rest follows, if there is one.
  void continue_with(std::shared_ptr<const Stage> rest, std::size_t index) {
    first_stage_ = index + 1;
    if (!rest) return;
    chain_[index] = std::move(rest);
    first_stage_ = index;
    check_results(input_->name(), input_->header(), chain_, options_.limits);
  }

  void write(const std::string& output) {
    Walk walk(*input_);
    prepare(walk, stages_before(chain_.size()), std::nullopt);
    const Plan& plan = *walk.prepared.plan;
    describe(plan);
    report_.output = output;
    std::error_code unknown;
    report_.replaced = output != "-" && std::filesystem::is_regular_file(output, unknown);

    const auto sink = options_.open_output ? options_.open_output(output) : open_sink(output);
    PictureHeader header = input_->header();
    header.size = plan.output().size;
    header.format = plan.output().format;
    header.metadata = input_->leading_metadata(*report_.output_format);
    const auto writer = create_picture(*report_.output_format, *sink, header, options_.write);
    report_.encoding = writer->notes();
    const Check check = make_check(walk);
    walk_bands(
        walk, [&](Band& band) { filter(walk, band, check); },
        [&](const Band& band) {
          const ScopedSpan span(walk.timeline, band_span(Activity::encode, band.image.rows()));
          writer->write(band.image.rows());
        });
    {
      const ScopedSpan span(walk.timeline, {.activity = Activity::encode});
      input_->finish(*walk.reader);
      describe_orientation();
      writer->finish(input_->trailing_metadata());
      sink->commit();
    }
    report_.output_bytes = sink->bytes_written();
    report_.left_out = writer->left_out();
    note(check);
    report_.result_passes += static_cast<std::size_t>(walk.pass_count());
    close(walk);
  }

  // Of a walk's result; none if nothing is to be checked.
  using Check = std::unique_ptr<BlockCheck>;
  [[nodiscard]] Check make_check(const Walk& walk) const {
    if (options_.verify_blocks == 0 || !walk.prepared.executor) return nullptr;
    return std::make_unique<BlockCheck>(*walk.prepared.plan, options_.verify_blocks,
                                        std::random_device()());
  }
  void note(const Check& check) {
    if (check) report_.verified_blocks = report_.verified_blocks.value_or(0) + check->checked();
  }

  // Once the header is read, the chain and the device are known.
  void begin() {
    const Nanoseconds start = now();
    input_.emplace(report_.input, chain_, options_);
    report_.spans.push_back(
        {.activity = Activity::decode, .start = start, .duration = now() - start});
    const PictureHeader& header = input_->header();
    report_.size = header.size;
    report_.input_pixel = header.format;
    report_.is_oriented = depends_on_orientation(chain_);
    chain_ = chain_for_orientation(chain_, input_->orientation());
    walks_ += static_cast<int>(std::count_if(chain_.begin(), chain_.end(), [](const auto& stage) {
      return stage->needs() || stage->keeps_source();
    }));
    assign(header);
  }

  // Those that still have to run.
  [[nodiscard]] StageChain stages_before(std::size_t end) const {
    return {chain_.begin() + static_cast<std::ptrdiff_t>(first_stage_),
            chain_.begin() + static_cast<std::ptrdiff_t>(end)};
  }

  [[nodiscard]] const Codec& output_format_of(const PictureHeader& header) const {
    return output_format_ != nullptr ? *output_format_ : *header.file_format;
  }

  void assign(const PictureHeader& header) {
    chain_ = with_light_of(chain_, header.format, header.metadata);
    task_ = picture_task(header, chain_, output_format_of(header), bytes_of_file(report_.input));
    check_results(input_->name(), header, chain_, options_.limits);
    assignment_ = dispatcher_.assign(task_);
  }

  // Decodes a file while the device is being started. Not a pipe: waiting for its data would delay
  // work that does not depend on them.
  void prepare(Walk& walk, StageChain chain, std::optional<Quantity> measure) {
    Engine& engine = *assignment_.engine;
    for (bool more = input_->is_file(); more && !engine.is_ready();) {
      const ScopedSpan span(walk.timeline, {.activity = Activity::decode});
      more = walk.reader->read_on(memory_ahead());
    }
    walk.prepared = engine.prepare(
        {input_->shape(), std::move(chain), measure, memory_of_bands(), assignment_.reason},
        walk.timeline);
    const PictureShape input = input_->shape();
    if (walk.prepared.plan->reads_past_edges()) {
      check_memory(input_->name(),
                   std::uint64_t{row_pitch(input)} * static_cast<unsigned>(input.size.height),
                   options_.limits, "a picture whose border wraps", "choose another border");
    }
  }

  void describe(const Plan& plan) {
    const PictureHeader& header = input_->header();
    describe_formats(report_, header, chain_, output_format_of(header), options_.write);
    report_.bands = static_cast<int>(plan.bands().size());
    report_.band_rows = std::min(plan.band_rows, plan.output().size.height);
    report_.bands_under_way =
        std::min(bands_in_flight(plan, memory_of_bands()), static_cast<std::size_t>(report_.bands));
    report_.memory = plan.band_memory(plan.band_rows) * report_.bands_under_way;
  }

  void describe_orientation() {
    report_.exif_orientation = input_->orientation();
    if (report_.exif_orientation == 1 || report_.is_oriented) return;
    log::info(formatted("{}: EXIF orientation {}: carried over, the pixels stay as stored",
                        report_.input, report_.exif_orientation));
  }

  // Walks through the bands and shows the progress.
  template <typename Work, typename Take>
  void walk_bands(Walk& walk, const Work& work, const Take& take) {
    const Plan& plan = *walk.prepared.plan;
    gpufilter::walk_bands({.reader = *walk.reader,
                           .plan = plan,
                           .pool = walk.pool(),
                           .timeline = walk.timeline,
                           .reading = input_->reading(),
                           .bands_in_flight = bands_in_flight(plan, memory_of_bands())},
                          work, [&](const Band& band) {
                            take(band);
                            progress(band.rows, plan.output().size.height);
                          });
  }

  [[nodiscard]] std::uint64_t memory_left() const { return options_.max_memory - kept_memory_; }
  [[nodiscard]] std::uint64_t memory_ahead() const { return memory_left() / 4; }
  [[nodiscard]] std::uint64_t memory_of_bands() const { return memory_left() - memory_ahead(); }

  [[nodiscard]] static bool on_device(const Walk& walk) {
    return walk.prepared.report.kind != processor_kind;
  }

  // Replaces the band's input by the result.
  void filter(Walk& walk, Band& band, const Check& check) const {
    if (!walk.prepared.executor) return;
    const Plan& plan = *walk.prepared.plan;
    Image output = walk.pool().take(plan.output().size.width, band.rows, plan.output().format);
    walk.prepared.executor->run(band.image.rows(), output.rows());
    if (check) {
      check->check(std::as_const(band.image).rows(), std::as_const(output).rows(), report_.input,
                   walk.prepared.report.device);
    }
    band.image = std::move(output);
  }

  // In rows of the input, whatever the height of a walk's result.
  void progress(const RowRange& band, int height_of_result) const {
    if (!options_.on_progress) return;
    const std::int64_t height = report_.size.height;
    options_.on_progress(walk_ * height + band.end * height / height_of_result, walks_ * height);
  }

  // Moves the walk's spans and passes into the report.
  void close(const Walk& walk) {
    const int first_pass = static_cast<int>(report_.passes.size());
    for (Span span : walk.timeline.spans()) {
      span.walk = walk_;
      if (span.pass >= 0) span.pass += first_pass;
      report_.spans.push_back(span);
    }
    if (walk.prepared.executor || report_.passes.empty()) report_.engine = walk.prepared.report;
    if (walk.prepared.executor) {
      for (PassReport pass : walk.prepared.executor->passes()) {
        pass.walk = walk_;
        report_.passes.push_back(std::move(pass));
      }
    }
    ++walk_;
  }

  StageChain chain_;
  int walks_ = 1;
  int walk_ = 0;                // number of finished walks
  const Codec* output_format_;  // nullptr: the input's
  Dispatcher& dispatcher_;
  const RunOptions& options_;
  std::optional<PictureInput> input_;
  std::size_t first_stage_ = 0;    // of those that still have to run
  std::uint64_t kept_memory_ = 0;  // bytes of pictures kept between stages
  PictureTask task_;
  Assignment assignment_;
  RunReport report_;
};

}  // namespace

RunReport filter_picture(const std::string& input, const std::string& output,
                         const Codec* output_format, const StageChain& chain,
                         Dispatcher& dispatcher, const RunOptions& options) {
  return PictureRun(input, output_format, chain, dispatcher, options).run(output);
}

RunReport filter_picture(const std::string& input, const std::string& output,
                         const Codec* output_format, const StageChain& chain, Engine& engine,
                         const RunOptions& options) {
  OnEngine dispatcher(engine);
  return filter_picture(input, output, output_format, chain, dispatcher, options);
}

}  // namespace gpufilter
