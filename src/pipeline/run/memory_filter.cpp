#include "pipeline/run/memory_filter.hpp"

#include <algorithm>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "base/format.hpp"
#include "codec/read_limits.hpp"
#include "host/turn_rows.hpp"
#include "image/exif.hpp"
#include "image/image.hpp"
#include "pipeline/run/run_description.hpp"

namespace gpufilter {
namespace {

// Bytes of a result's rows after which a watched call reports, and may stop.
constexpr std::size_t bytes_between_checks = std::size_t{1} << 20U;

int rows_between_checks(const PictureShape& picture) {
  return static_cast<int>(bytes_between_checks / row_pitch(picture)) + 1;
}

}  // namespace

std::size_t MemoryCall::threads() const {
  if (limits_.threads == 1) return 1;
  const std::size_t allowed = allowed_threads();
  return limits_.threads > 0 ? std::min(allowed, static_cast<std::size_t>(limits_.threads))
                             : allowed;
}

void MemoryCall::add_rows(int rows, int all) {
  if (control_.progress == nullptr) return;
  const std::lock_guard lock(mutex_);
  rows_ += rows;
  control_.progress((walk_ + static_cast<double>(rows_) / all) / walks_);
}

void MemoryCall::end_walk() {
  const std::lock_guard lock(mutex_);
  ++walk_;
  rows_ = 0;
}

void MemoryCall::use_device(Engine& engine, std::shared_ptr<Session> session) {
  engine_ = &engine;
  session_ = std::move(session);
}

bool MemoryCall::leave_device(const DeviceError& failure) {
  const auto failed = std::exchange(session_, nullptr);
  walk_ = 0;
  rows_ = 0;
  return failed != nullptr && engine_->leave(*failed, failure.what());
}

MemoryPart::MemoryPart(Engine& engine, Work work) : engine_(engine), part_(picture_in_memory) {
  work.is_divided = true;
  part_.prepare(engine, work);
}

// Calls work(source, rows of the result) for blocks of the result.
template <typename RunOnHost>
void MemoryPart::for_blocks_on_host(const ConstRows& source, MemoryCall& call,
                                    const RunOnHost& work) {
  const Plan& plan = part_.plan();
  const RowRange all{0, output().size.height};
  const RowRange window = plan.windows(all).front();
  std::shared_ptr<const Image> repeated;
  ConstRows rows = source;
  if (!source.rows.contains(window)) {
    repeated = BandFeed(source, plan, part_.pool()).next(all);
    rows = repeated->rows();
  }
  // Passes look for a stop themselves.
  const bool ends_blocks = plan.passes.empty() || call.reports();
  const int suitable = ends_blocks ? rows_between_checks(output()) : all.count();
  for_blocks(call, all, plan.minimum_part(), suitable,
             [&](const RowRange& block) { work(rows, block); });
}

// filter(band) may run for several bands at the same time; take(band) gets them in order.
template <typename Filter, typename Take>
void MemoryPart::walk_on_device(const ConstRows& source, MemoryCall& call, const Filter& filter,
                                const Take& take) {
  call.use_device(engine_, part_.prepared().session);
  part_.walk(source, call.limits().max_memory, Activity::decode, filter, [&](const Band& band) {
    take(band);
    call.add_rows(band.rows.count(), output().size.height);
  });
  call.end_walk();
}

void MemoryPart::run(const ConstRows& source, const MutableRows& target, MemoryCall& call) {
  if (is_on_device()) {
    return walk_on_device(
        source, call, [&](Band& band) { part_.filter(band); },
        [&](const Band& band) { copy_pixels(band.output(), target.part(band.rows)); });
  }
  BandExecutor* const executor = part_.prepared().executor.get();
  for_blocks_on_host(source, call, [&](const ConstRows& rows, const RowRange& block) {
    if (executor == nullptr) return copy_pixels(rows, target.part(block));
    executor->run(rows, target.part(block));
  });
}

PictureStatistics MemoryPart::measure(const ConstRows& source, MemoryCall& call) {
  BandExecutor& executor = *part_.prepared().executor;
  if (is_on_device()) {
    walk_on_device(
        source, call, [&](Band& band) { part_.measure(band); }, [](const Band&) {});
  } else {
    for_blocks_on_host(source, call, [&](const ConstRows& rows, const RowRange& block) {
      executor.measure(rows, block);
    });
  }
  return executor.statistics();
}

namespace {

// Shapes for which what was prepared is kept.
constexpr std::size_t kept_shapes = 16;
// Rows of a picture that are turned at a time, at least.
constexpr int turned_rows = 64;

bool has_demand(const LoweredStage& stage) {
  return stage.demand.has_value();
}

// The chain for a picture of this shape with this metadata.
LoweredChain chain_for(const StageChain& chain, const PictureShape& shape,
                       const Metadata& metadata) {
  std::vector<ChainOutput> none;
  PictureHeader header;
  header.set_shape(shape);
  header.metadata = metadata;
  return lower_for(chain, picture_in_memory, header, stored_orientation(metadata).value_or(1),
                   none);
}

bool depends_on_colors(const StageChain& chain) {
  return std::ranges::any_of(chain,
                             [](const auto& stage) { return stage->traits().reads_metadata; });
}

void check_shapes(const PictureShape& input, const LoweredChain& chain, const MemoryCall& call) {
  const ReadLimits limits{.max_pixels = call.limits().max_pixels};
  check_size(picture_in_memory, input, limits);
  check_results(picture_in_memory, input, chain, limits);
}

PictureTask task_for(const PictureShape& input, const LoweredChain& chain) {
  return {.shape = input, .chain = chain, .decoding = {}, .encoding = {}};
}

// One call of a chain with stages that need the whole picture.
class MemoryRun {
 public:
  MemoryRun(const ConstRows& input, LoweredChain chain, Engine& engine, std::string reason,
            MemoryCall& call)
      : source_(input),
        chain_(std::move(chain)),
        engine_(engine),
        reason_(std::move(reason)),
        call_(call) {
    call_.expect_walks(1 + static_cast<int>(std::ranges::count_if(chain_, has_demand)));
  }

  EngineReport run(const MemoryFilter::TargetOf& target_of) {
    settle(
        chain_, first_, [&](std::size_t i, Quantity quantity) { return measure(i, quantity); },
        [&](std::size_t i) { return keep(i); },
        [&] { check_shapes(shape_of(source_), part_of(chain_, first_, chain_.size()), call_); });
    MemoryPart last = part(chain_.size(), std::nullopt);
    last.run(source_, target_of(last.output()), call_);
    if (!report_ || report_->kind == "none") report_ = last.report();
    return *report_;
  }

 private:
  // The remaining stages before `end`.
  [[nodiscard]] MemoryPart part(std::size_t end, std::optional<Quantity> measure) {
    return {engine_,
            {shape_of(source_), part_of(chain_, first_, end), measure, call_.limits().max_memory,
             reason_}};
  }

  PictureStatistics measure(std::size_t index, Quantity quantity) {
    MemoryPart before = part(index, quantity);
    report_ = before.report();
    return before.measure(source_, call_);
  }

  // The result of the stages before `index` becomes the source, turned as that stage demands.
  // Returns whether a part of the stage's work is left.
  bool keep(std::size_t index) {
    if (index > first_) {
      MemoryPart before = part(index, std::nullopt);
      Image result(before.output().size, before.output().format);
      before.run(source_, result.rows(), call_);
      report_ = before.report();
      replace(std::move(result));
    }
    turn(*chain_[index].demand->whole);
    if (!report_) report_ = engine_that_turns();
    return meet_demand(chain_, index, PictureInMemory(source_));
  }

  void turn(const Turn& turn) {
    if (turn.changes_nothing()) return;
    const int height = source_.rows.count();
    Image turned(turn.size_of(shape_of(source_).size), source_.format);
    const MutableRows target = turned.rows();
    for_blocks(call_, source_.rows, turned_rows, turned_rows, [&](const RowRange& block) {
      const ImageSize size = turn.size_of({source_.width, block.count()});
      const int first = turn.mirrors_y ? height - block.end : block.begin;
      const std::size_t offset = static_cast<std::size_t>(first) *
                                 (turn.swaps ? source_.format.bytes_per_pixel() : target.pitch);
      turn_rows(source_.part(block), turn,
                {target.data + offset, target.pitch, {0, size.height}, size.width, target.format});
    });
    replace(std::move(turned));
  }

  void replace(Image next) {
    memory_ = std::move(next);
    source_ = std::as_const(memory_).rows();
  }

  ConstRows source_;
  Image memory_;  // of the source, unless that is the input
  LoweredChain chain_;
  std::size_t first_ = 0;  // of the stages that still have to run
  Engine& engine_;
  std::string reason_;
  MemoryCall& call_;
  std::optional<EngineReport> report_;
};

}  // namespace

// A chain that needs no whole picture, prepared for pictures of a shape without metadata.
struct MemoryFilter::Kept {
  Kept(Engine& engine, const Work& work)
      : input(work.input), profile(last_profile(work.chain)), part(engine, work) {}

  PictureShape input;
  std::shared_ptr<const IccProfile> profile;
  MemoryPart part;
};

PictureShape MemoryFilter::result_shape(const PictureShape& input, const Metadata& metadata) const {
  PictureShape shape = input;
  for (const LoweredStage& stage : chain_for(chain_, input, metadata)) {
    if (stage.demand && stage.demand->whole && !stage.turn) {
      throw UsageError(
          formatted("--{}: the size of its result depends on the pixels", stage.title.name));
    }
    shape = output_of(stage, shape);
  }
  return shape;
}

MemoryFilter::MemoryFilter(StageChain chain, Dispatcher& dispatcher)
    : chain_(std::move(chain)),
      dispatcher_(dispatcher),
      is_oriented_(depends_on_orientation(chain_)),
      depends_on_colors_(depends_on_colors(chain_)) {}

std::shared_ptr<MemoryFilter::Kept> MemoryFilter::kept_for(const PictureShape& input,
                                                           const MemoryCall& call) {
  {
    const std::lock_guard lock(mutex_);
    const auto found = std::find_if(kept_.begin(), kept_.end(),
                                    [&](const auto& kept) { return kept->input == input; });
    if (found != kept_.end()) {
      kept_.splice(kept_.begin(), kept_, found);
      return kept_.front();
    }
  }
  LoweredChain chain = chain_for(chain_, input, {});
  if (std::ranges::any_of(chain, has_demand)) return nullptr;
  check_shapes(input, chain, call);
  const Assignment assignment = dispatcher_.assign(task_for(input, chain));
  auto kept = std::make_shared<Kept>(
      *assignment.engine,
      Work{input, std::move(chain), std::nullopt, call.limits().max_memory, assignment.reason});
  if (!kept->part.is_reusable()) return kept;
  const std::lock_guard lock(mutex_);
  kept_.push_front(kept);
  if (kept_.size() > kept_shapes) kept_.pop_back();
  return kept;
}

bool MemoryFilter::keeps_positions(ImageSize size) const {
  const PictureShape shape{size, {}};
  return !is_oriented_ && gpufilter::keeps_positions(lower_chain(chain_, {.shape = shape}), shape);
}

MemoryResult MemoryFilter::run(const ConstRows& input, const Metadata* metadata,
                               const TargetOf& target_of, MemoryCall& call) {
  for (;;) {
    try {
      return run_once(input, metadata, target_of, call);
    } catch (const DeviceError& error) {
      if (!call.leave_device(error)) throw;
    }
  }
}

MemoryResult MemoryFilter::run_once(const ConstRows& input, const Metadata* metadata,
                                    const TargetOf& target_of, MemoryCall& call) {
  const PictureShape shape = shape_of(input);
  const bool is_turned =
      metadata != nullptr && is_oriented_ && stored_orientation(*metadata).value_or(1) != 1;
  const bool is_plain = metadata == nullptr || (!is_turned && !depends_on_colors_);
  if (const auto kept = is_plain ? kept_for(shape, call) : nullptr) {
    const MutableRows target = target_of(kept->part.output());
    kept->part.run(input, target, call);
    return {kept->part.report(), kept->profile};
  }
  LoweredChain chain = chain_for(chain_, shape, is_plain ? Metadata() : *metadata);
  check_shapes(shape, chain, call);
  const Assignment assignment = dispatcher_.assign(task_for(shape, chain));
  auto profile = last_profile(chain);
  MemoryRun run(input, std::move(chain), *assignment.engine, assignment.reason, call);
  return {run.run(target_of), std::move(profile)};
}

}  // namespace gpufilter
