#include "api/filter_state.hpp"

#include <algorithm>
#include <iterator>
#include <new>
#include <utility>
#include <vector>

#include <unistd.h>

#include "api/library_words.hpp"
#include "base/error.hpp"
#include "base/format.hpp"
#include "base/words.hpp"
#include "image/image.hpp"
#include "pipeline/choose/dispatcher.hpp"
#include "pipeline/run/run.hpp"

namespace gpufilter {
namespace {

// Unused blocks that are kept: enough for a few threads, and small compared with pictures.
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

// A copy of the input if writing the output would overwrite rows that are still to be read.
Image separated(const ConstRows& input, const ConstRows& output) {
  if (!overlap(input, output)) return {};
  Image copy(shape_of(input).size, input.format);
  copy_pixels(input, copy.rows());
  return copy;
}

}  // namespace

struct ResultMemory::State {
  struct Block {
    std::size_t bytes;
    std::shared_ptr<std::uint8_t> memory;
  };
  std::mutex mutex;
  std::vector<Block> unused;  // the block returned last is last

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
      // Without memory the block is not kept.
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
  return in_library_words([&] { return memory().run(input, metadata, target_of, call); });
}

MemoryResult PictureFilter::State::run_into(const ConstRows& input, const Metadata* metadata,
                                            const MutableRows& target, const RunControl& control) {
  MemoryCall call(settings_.limits, control);
  const Image copy = separated(input, target);
  const auto target_of = [&](const PictureShape& shape) {
    if (shape_of(target) == shape) return target;
    throw UsageError(formatted("the result is {}; there is memory for {}", text_of(shape),
                               text_of(shape_of(target))));
  };
  const ConstRows from = copy.row_range().count() > 0 ? copy.rows() : input;
  return in_library_words([&] { return memory().run(from, metadata, target_of, call); });
}

Shape PictureFilter::State::result_shape(const PictureShape& input, const Metadata& metadata) {
  return in_library_words([&] {
    try {
      return public_shape(memory().result_shape(input, metadata));
    } catch (const PictureError& error) {
      throw UsageError(error.what());
    }
  });
}

PictureFilter::State::Work PictureFilter::State::make_work(const std::string& device,
                                                           bool require_device) const {
  Work work;
  EngineOptions engine = default_engine_options();
  engine.limits_steps = settings_.limits.max_memory != Limits{}.max_memory;
  work.dispatcher =
      in_library_words([&] { return make_dispatcher(device, require_device, chain_, engine); });
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

}  // namespace gpufilter
