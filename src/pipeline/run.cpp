#include "pipeline/run.hpp"

#include <algorithm>
#include <filesystem>
#include <random>

#include "base/error.hpp"
#include "base/format.hpp"
#include "base/log.hpp"
#include "image/exif_orientation.hpp"
#include "pipeline/band_walk.hpp"
#include "pipeline/block_check.hpp"
#include "pipeline/read_ahead.hpp"
#include "pipeline/run_description.hpp"
#include "stages/linear.hpp"

namespace gpufilter {
namespace {

bool is_regular_file(const std::string& path) {
  std::error_code ignored;
  return std::filesystem::is_regular_file(path, ignored);
}

// 0 if there is no such file.
std::uint64_t bytes_of_file(const std::string& path) {
  std::error_code error;
  const auto bytes = std::filesystem::file_size(path, error);
  return error ? 0 : bytes;
}

// One walk through the picture: the opened input, and the work on its bands.
struct Walk {
  std::unique_ptr<ReadAhead> reader;
  Prepared prepared;
  Timeline timeline;
  ImagePool plain_memory;

  [[nodiscard]] ImagePool& pool() {
    return prepared.executor ? prepared.executor->pool() : plain_memory;
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
      : chain_(chain),
        walks_(1 + static_cast<int>(std::count_if(chain.begin(), chain.end(),
                                                  [](const auto& s) { return s->needs(); }))),
        source_(input, walks_ > 1, options.open_input ? options.open_input : open_source),
        is_file_(is_regular_file(input)),
        output_format_(output_format),
        dispatcher_(dispatcher),
        options_(options) {
    report_.start = options.start.value_or(now());
    report_.input = input;
  }

  RunReport run(const std::string& output) {
    for (std::size_t i = 0; i < chain_.size(); ++i) {
      if (chain_[i]->needs()) resolve(i);
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
    Walk walk;
    open(walk);
    const auto end = chain_.begin() + static_cast<std::ptrdiff_t>(index);
    prepare(walk, {chain_.begin(), end}, chain_[index]->needs());
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

  void write(const std::string& output) {
    Walk walk;
    open(walk);
    prepare(walk, chain_, std::nullopt);
    const Plan& plan = *walk.prepared.plan;
    PictureHeader header = walk.reader->header();
    describe(header, plan);
    report_.output = output;
    std::error_code unknown;
    report_.replaced = output != "-" && std::filesystem::is_regular_file(output, unknown);

    const auto sink = options_.open_output ? options_.open_output(output) : open_sink(output);
    header.size = plan.output().size;
    header.format = plan.output().format;
    const bool took_late_metadata = take_late_metadata(header.metadata);
    const auto writer = create_picture(*report_.output_format, *sink, header, options_.write);
    report_.encoding = writer->notes();
    std::optional<BlockCheck> check;
    if (options_.verify_blocks > 0 && walk.prepared.executor)
      check.emplace(plan, options_.verify_blocks, std::random_device()());
    walk_bands(
        walk, [&](Band& band) { filter(walk, band, check); },
        [&](const Band& band) {
          const ScopedSpan span(walk.timeline, band_span(Activity::encode, band.image.rows()));
          writer->write(band.image.rows());
        });
    {
      const ScopedSpan span(walk.timeline, {.activity = Activity::encode});
      const Metadata trailing = walk.reader->finish();
      note_orientation(trailing);
      writer->finish(took_late_metadata ? Metadata() : trailing);
      sink->commit();
    }
    report_.output_bytes = sink->bytes_written();
    report_.left_out = writer->left_out();
    if (check) report_.verified_blocks = check->checked();
    close(walk);
  }

  // For formats whose metadata comes before the pixels: looks for what the input has behind them.
  // False for a stream, which cannot be read twice.
  bool take_late_metadata(Metadata& metadata) const {
    const auto read = report_.input_format->read_late_metadata;
    if (!is_file_ || report_.output_format->holds_late_metadata || read == nullptr) return false;
    add_late_metadata(metadata, read(*source_.open()));
    return true;
  }

  void open(Walk& walk) {
    const ScopedSpan span(walk.timeline, {.activity = Activity::decode});
    auto source = source_.open();
    input_name_ = source->name();
    ReadLimits limits = options_.limits;
    limits.warn = limits.warn && walk_ == 0;
    walk.reader = std::make_unique<ReadAhead>(open_picture(std::move(source), limits));
    const PictureHeader& header = walk.reader->header();
    if (walk_ > 0 && (header.size != report_.size || header.format != report_.input_pixel)) {
      throw PictureError(input_name_, "it changed while it was being read");
    }
    report_.size = header.size;
    report_.input_pixel = header.format;
    if (walk_ == 0) assign(header);
  }

  [[nodiscard]] const Codec& output_format_of(const PictureHeader& header) const {
    return output_format_ != nullptr ? *output_format_ : *header.file_format;
  }

  void assign(const PictureHeader& header) {
    chain_ = with_light_of(chain_, header.format, header.metadata);
    task_ = picture_task(header, chain_, output_format_of(header), bytes_of_file(report_.input));
    check_results(input_name_, header, chain_, options_.limits);
    assignment_ = dispatcher_.assign(task_);
  }

  // Decodes a file while the device is being started. Not a pipe: waiting for its data would delay
  // work that does not depend on them.
  void prepare(Walk& walk, StageChain chain, std::optional<Quantity> measure) {
    Engine& engine = *assignment_.engine;
    for (bool more = is_file_; more && !engine.is_ready();) {
      const ScopedSpan span(walk.timeline, {.activity = Activity::decode});
      more = walk.reader->read_on(memory_ahead());
    }
    walk.prepared = engine.prepare(
        {task_.shape, std::move(chain), measure, memory_of_bands(), assignment_.reason},
        walk.timeline);
    const PictureShape& input = task_.shape;
    if (walk.prepared.plan->reads_past_edges()) {
      check_memory(input_name_,
                   std::uint64_t{row_pitch(input)} * static_cast<unsigned>(input.size.height),
                   options_.limits, "a picture whose border wraps", "choose another border");
    }
  }

  void describe(const PictureHeader& header, const Plan& plan) {
    describe_formats(report_, header, chain_, output_format_of(header), options_.write);
    report_.bands = static_cast<int>(plan.bands().size());
    report_.band_rows = std::min(plan.band_rows, plan.output().size.height);
    report_.bands_under_way =
        std::min(bands_in_flight(plan, memory_of_bands()), static_cast<std::size_t>(report_.bands));
    report_.memory = plan.band_memory(plan.band_rows) * report_.bands_under_way;
    note_orientation(header.metadata);
  }

  void note_orientation(const Metadata& metadata) {
    if (metadata.exif.empty()) return;
    report_.exif_orientation = exif_orientation(metadata.exif);
    if (report_.exif_orientation == 1) return;
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
                           .bands_in_flight = bands_in_flight(plan, memory_of_bands())},
                          work, [&](const Band& band) {
                            take(band);
                            progress(band.rows, plan.output().size.height);
                          });
  }

  [[nodiscard]] std::uint64_t memory_ahead() const { return options_.max_memory / 4; }
  [[nodiscard]] std::uint64_t memory_of_bands() const {
    return options_.max_memory - memory_ahead();
  }

  [[nodiscard]] static bool on_device(const Walk& walk) {
    return walk.prepared.report.kind != processor_kind;
  }

  // Replaces the band's input by the result.
  void filter(Walk& walk, Band& band, std::optional<BlockCheck>& check) const {
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
    report_.engine = walk.prepared.report;
    if (walk.prepared.executor) {
      for (PassReport pass : walk.prepared.executor->passes()) {
        pass.walk = walk_;
        report_.passes.push_back(std::move(pass));
      }
    }
    ++walk_;
  }

  StageChain chain_;
  int walks_;
  int walk_ = 0;  // number of finished walks
  RepeatableSource source_;
  bool is_file_;
  const Codec* output_format_;  // nullptr: the input's
  Dispatcher& dispatcher_;
  const RunOptions& options_;
  std::string input_name_;  // for messages
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
