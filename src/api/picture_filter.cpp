#include <algorithm>
#include <iterator>
#include <new>
#include <utility>
#include <vector>

#include <gpufilter/filter.hpp>
#include <unistd.h>

#include "api/call_options.hpp"
#include "api/filter_state.hpp"
#include "api/library_words.hpp"
#include "api/picture_state.hpp"
#include "base/error.hpp"
#include "base/format.hpp"
#include "base/words.hpp"
#include "codec/unread.hpp"
#include "image/exif.hpp"
#include "image/image.hpp"
#include "pipeline/choose/dispatcher.hpp"
#include "pipeline/run/run.hpp"

namespace gpufilter {
namespace {

// Unused blocks that are kept: enough for a few threads, and little beside what pictures take.
constexpr std::size_t kept_blocks = 4;
constexpr std::size_t kept_bytes = std::size_t{256} << 20U;
// Smaller blocks come from the allocator without page faults.
constexpr std::size_t smallest_kept = std::size_t{256} << 10U;

StageChain with_upright_stage(StageChain chain, const std::string& orientation) {
  std::vector<std::string> words;
  for (const auto& [word, rule] : orientation_rules()) {
    words.push_back(word);
    if (word != orientation) continue;
    std::vector<ChainOutput> none;
    add_upright_stage(chain, rule, none);
    return chain;
  }
  throw UsageError("orientation: " + not_among(orientation, words));
}

}  // namespace

struct ResultMemory::State {
  struct Block {
    std::size_t bytes;
    std::shared_ptr<std::uint8_t> memory;
  };
  std::mutex mutex;
  std::vector<Block> unused;  // the one that came back last comes last

  Block take(std::size_t bytes) {
    {
      const std::lock_guard lock(mutex);
      const auto fits = [bytes](const Block& block) {
        return bytes <= block.bytes && block.bytes / 2 <= bytes;
      };
      const auto found = std::find_if(unused.rbegin(), unused.rend(), fits);
      if (found != unused.rend()) {
        Block block = std::move(*found);
        unused.erase(std::next(found).base());
        return block;
      }
    }
    return {bytes, allocate_image_memory(bytes)};
  }

  // Frees the blocks that were unused longest.
  void give_back(Block block) noexcept {
    std::vector<Block> freed;  // after the lock
    const std::lock_guard lock(mutex);
    try {
      unused.push_back(std::move(block));
      std::size_t bytes = 0;
      std::size_t kept = 0;
      while (kept < std::min(unused.size(), kept_blocks)) {
        bytes += unused[unused.size() - 1 - kept].bytes;
        if (bytes > kept_bytes) break;
        ++kept;
      }
      const auto end = unused.end() - static_cast<std::ptrdiff_t>(kept);
      freed.assign(std::make_move_iterator(unused.begin()), std::make_move_iterator(end));
      unused.erase(unused.begin(), end);
    } catch (const std::bad_alloc&) {
      // Then it is not kept.
    }
  }
};

ResultMemory::ResultMemory() : state_(std::make_shared<State>()) {}

std::shared_ptr<std::uint8_t> ResultMemory::take(std::size_t bytes) {
  if (bytes < smallest_kept) return allocate_image_memory(bytes);
  State::Block block = state_->take(bytes);
  std::uint8_t* data = block.memory.get();
  return {data, [state = state_, block = std::move(block)](std::uint8_t*) mutable {
            state->give_back(std::move(block));
          }};
}

PictureFilter::State::State(StageChain chain, FilterSettings settings)
    : chain_(with_upright_stage(std::move(chain), settings.orientation)),
      settings_(std::move(settings)),
      process_(::getpid()),
      work_(make_work(settings_.device, settings_.require_device)) {}

// The threads that the parent's objects would wait for do not exist in a forked process.
PictureFilter::State::~State() {
  if (::getpid() == process_) return;
  static_cast<void>(work_.memory.release());
  static_cast<void>(work_.dispatcher.release());
}

MemoryResult PictureFilter::State::run(const ConstRows& input, const Metadata* metadata,
                                       const RunControl& control,
                                       std::unique_ptr<PictureState>& result) {
  MemoryCall call(settings_.limits, control);
  const auto target_of = [&](const PictureShape& shape) {
    result = std::make_unique<PictureState>(shape, results_.take(PictureState::bytes_of(shape)));
    return result->rows();
  };
  return memory().run(input, metadata, target_of, call);
}

PictureFilter::State::Work PictureFilter::State::make_work(const std::string& device,
                                                           bool require_device) const {
  Work work;
  work.dispatcher = make_dispatcher(device, require_device, chain_, default_engine_options());
  work.memory = std::make_unique<MemoryFilter>(chain_, *work.dispatcher);
  return work;
}

PictureFilter::State::Work& PictureFilter::State::work() {
  if (::getpid() == process_) return work_;
  if (settings_.require_device) {
    throw DeviceError(
        "a device does not survive a fork; make the filter in the process that uses it");
  }
  std::call_once(forked_, [this] { work_after_fork_ = make_work("cpu", false); });
  return work_after_fork_;
}

namespace {

FilterResult result_of(const PictureShape& shape, const EngineReport& engine, Nanoseconds start) {
  return {.width = shape.size.width,
          .height = shape.size.height,
          .device = engine.device,
          .reason = engine.reason,
          .seconds = seconds_since(start),
          .channels = shape.format.channels,
          .depth = shape.format.depth};
}

// What stages may use of a picture's metadata.
Metadata metadata_of(const PictureState& picture) {
  Metadata metadata = picture.header.metadata;
  if (metadata.exif.empty()) metadata.exif = picture.trailing.exif;
  return metadata;
}

// What the result of a chain carries over from `input`.
void carry_over(const PictureState& input, const MemoryFilter& filter, const IccProfile* profile,
                PictureState& result) {
  PictureHeader header = input.header;
  header.keeps_positions = header.keeps_positions && header.size == result.shape.size &&
                           filter.keeps_positions(header.size);
  header.size = result.shape.size;
  header.format = result.shape.format;
  result.header = std::move(header);
  result.trailing = input.trailing;
  if (profile != nullptr) set_profile(result.header.metadata, *profile);
  if (!filter.is_oriented()) return;
  add_late_metadata(result.header.metadata, std::move(result.trailing));
  result.trailing = {};
  set_orientation(result.header.metadata, 1);
}

}  // namespace

PictureFilter::PictureFilter(const std::vector<StageUse>& stages, const FilterSettings& settings) {
  enter_library();
  refuse_nul({settings.device, settings.orientation});
  if (settings.limits.threads < 0) {
    throw UsageError(
        formatted("{} threads; choose 0 for all cores, or more", settings.limits.threads));
  }
  state_ = std::make_unique<State>(chain_of(stages, read_limits(settings.limits)), settings);
}

PictureFilter::~PictureFilter() = default;
PictureFilter::PictureFilter(PictureFilter&&) noexcept = default;
PictureFilter& PictureFilter::operator=(PictureFilter&&) noexcept = default;

Shape PictureFilter::result_shape(const Shape& input) const {
  return state_->result_shape(checked_shape(input), {});
}

Shape PictureFilter::result_shape(const Picture& input) const {
  const PictureState& from = existing(input);
  return state_->result_shape(from.shape, metadata_of(from));
}

Picture PictureFilter::run(const ConstView& input, const RunControl& control) const {
  std::unique_ptr<PictureState> result;
  static_cast<void>(state_->run(rows_of(input), nullptr, control, result));
  return PictureAccess::make(std::move(result));
}

Picture PictureFilter::run(const Picture& input, const RunControl& control) const {
  const PictureState& from = existing(input);
  std::unique_ptr<PictureState> result;
  const Metadata metadata = metadata_of(from);
  const MemoryResult run = state_->run(rows_of(input.view()), &metadata, control, result);
  carry_over(from, state_->memory(), run.profile.get(), *result);
  return PictureAccess::make(std::move(result));
}

FilterResult PictureFilter::run(const ConstView& input, const View& output,
                                const RunControl& control) const {
  const Nanoseconds start = now();
  const MutableRows target = rows_of(output);
  const MemoryResult run = state_->run_into(rows_of(input), nullptr, target, control);
  return result_of(shape_of(target), run.report, start);
}

FilterResult PictureFilter::run(const Picture& input, const View& output,
                                const RunControl& control) const {
  const Nanoseconds start = now();
  const Metadata metadata = metadata_of(existing(input));
  const MutableRows target = rows_of(output);
  const MemoryResult run = state_->run_into(rows_of(input.view()), &metadata, target, control);
  return result_of(shape_of(target), run.report, start);
}

FilterResult PictureFilter::run(const Picture& input, Picture& output,
                                const RunControl& control) const {
  const Nanoseconds start = now();
  const PictureState& from = existing(input);
  PictureState& result = existing(output);
  const Metadata metadata = metadata_of(from);
  const MemoryResult run =
      state_->run_into(rows_of(input.view()), &metadata, result.rows(), control);
  carry_over(from, state_->memory(), run.profile.get(), result);
  return result_of(result.shape, run.report, start);
}

FilterResult PictureFilter::run(const std::string& input, const std::string& output,
                                const FormatOptions& options, const RunControl& control) const {
  return state_->run_file({input}, {output}, options, control);
}

FilterResult PictureFilter::run(std::span<const std::uint8_t> input,
                                std::vector<std::uint8_t>& output, const std::string& format,
                                const FormatOptions& options, const RunControl& control) const {
  return state_->run_file({picture_in_memory, input}, {"picture." + format, &output}, options,
                          control);
}

FilterResult PictureFilter::run(std::span<const std::uint8_t> input, const std::string& output,
                                const FormatOptions& options, const RunControl& control) const {
  return state_->run_file({picture_in_memory, input}, {output}, options, control);
}

FilterResult PictureFilter::run(const std::string& input, std::vector<std::uint8_t>& output,
                                const std::string& format, const FormatOptions& options,
                                const RunControl& control) const {
  return state_->run_file({input}, {"picture." + format, &output}, options, control);
}

FilterResult PictureFilter::State::run_file(const FileInput& input, const FileOutput& output,
                                            const FormatOptions& options,
                                            const RunControl& control) {
  refuse_nul({input.name, output.name});
  RunOptions run = run_options(options, settings_.limits, control);
  if (input.bytes) {
    run.open_input = [&](const std::string& name) {
      return memory_source({input.bytes->begin(), input.bytes->end()}, name);
    };
  }
  std::vector<std::uint8_t> written;
  if (output.bytes != nullptr) {
    run.open_output = [&](const std::string&) { return memory_sink(written, picture_in_memory); };
  }
  FilterResult result;
  run_limited(settings_.limits, control, input.name, [&] {
    const ChainOutput file{output.name,
                           output.name == "-" ? nullptr : &codec_for_output(output.name)};
    const RunReport report = filter_picture(input.name, file, chain_, dispatcher(), run);
    dispatcher().conclude();
    warn_of_unread(input.name, report.unread);
    result = result_of({report.output_size, report.output_pixel}, report.engine, report.start);
    result.output_bytes = report.output_bytes;
  });
  if (output.bytes != nullptr) *output.bytes = std::move(written);
  return result;
}

}  // namespace gpufilter
