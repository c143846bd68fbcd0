#include "pipeline/run/chain_part.hpp"

#include <random>
#include <utility>

#include "base/threads.hpp"
#include "device/device_error.hpp"

namespace gpufilter {
namespace {

// A device that hangs may still use the band's memory, which is therefore never freed, and ending
// its session could take for ever.
void abandon(std::shared_ptr<Session> session, Band& band) {
  using Abandoned = std::pair<std::shared_ptr<Session>, Band>;
  static_cast<void>(new Abandoned(  // NOLINT
      std::move(session), Band{band.rows, band.source, std::move(band.result)}));
}

}  // namespace

std::size_t bands_in_flight(const Plan& plan, std::uint64_t memory) {
  const std::uint64_t enough = allowed_threads() + 2;
  return static_cast<std::size_t>(
      std::clamp<std::uint64_t>(memory / plan.band_memory(plan.band_rows), 1, enough));
}

ChainPart::ChainPart(Engine& engine, const Work& work, int verify_blocks, std::string picture)
    : ChainPart(std::move(picture)) {
  prepare(engine, work, verify_blocks);
}

void ChainPart::prepare(Engine& engine, const Work& work, int verify_blocks) {
  engine_ = &engine;
  work_ = work;
  prepared_ = engine.prepare(work, timeline_);
  BandExecutor* const executor = prepared_.executor.get();
  current_ = executor;
  reads_source_ = executor == nullptr || !executor->decodes() || verify_blocks > 0;
  if (verify_blocks > 0 && executor != nullptr && !work.measure)
    check_.emplace(plan(), work.chain, verify_blocks, std::random_device()());
}

int ChainPart::pass_count() const {
  return prepared_.executor ? static_cast<int>(prepared_.executor->passes().size()) : 0;
}

ImagePool& ChainPart::pool() {
  return prepared_.executor ? prepared_.executor->pool() : memory_;
}

// Without pixels if the band does not need them.
ConstRows ChainPart::source(const Band& band) const {
  if (reads_source_) return band.source->rows();
  const PictureShape& input = plan().input;
  return {nullptr, row_pitch(input), plan().windows(band.rows).front(), input.size.width,
          input.format};
}

void ChainPart::filter(Band& band) {
  if (!prepared_.executor) return;
  compute(band);
  if (check_) {
    check_->check(band.source->rows(), std::as_const(band.result).rows(), picture_,
                  prepared_.report.device);
  }
  band.source.reset();
}

void ChainPart::compute(Band& band) {
  for (bool again = false;; again = true) {
    BandExecutor& executor = *current_;
    try {
      return run(band, executor);
    } catch (const OutOfDeviceMemory& error) {
      // Other bands may have given some back.
      if (again && &executor == current_ && !continue_on_processor(error)) throw;
    } catch (const DeviceError& error) {
      if (dynamic_cast<const DeviceHangs*>(&error) != nullptr) abandon(prepared_.session, band);
      if (!continue_on_processor(error)) throw;
    }
  }
}

void ChainPart::run(Band& band, BandExecutor& executor) {
  const auto take_result = [&] {
    band.result = pool().take(output().size.width, band.rows, output().format);
    return band.result.rows();
  };
  if (plan().coding) {
    band.coded = executor.run_coded(source(band), band.rows, take_result);
  } else {
    executor.run(source(band), take_result());
  }
}

// False if the processor may not, or has no pixels to continue with.
bool ChainPart::continue_on_processor(const DeviceError& failure) {
  const std::lock_guard lock(mutex_);
  if (substitute_) return true;
  if (!reads_source_ || !prepared_.session ||
      !engine_->replace_by_processor(*prepared_.session, failure))
    return false;
  substitute_plan_ = plan_on_processor();
  substitute_ = make_host_executor(*substitute_plan_, nullptr);
  device_failure_ = failure.what();
  current_ = substitute_.get();
  return true;
}

void ChainPart::add_to(RunReport& report, int number) const {
  const int first_pass = static_cast<int>(report.passes.size());
  for (Span span : timeline_.spans()) {
    span.walk = number;
    if (span.pass >= 0) span.pass += first_pass;
    report.spans.push_back(span);
  }
  if (check_) report.verified_blocks = report.verified_blocks.value_or(0) + check_->checked();
  if (prepared_.executor || report.passes.empty()) report.engine = prepared_.report;
  if (substitute_)
    report.engine.fallbacks.push_back(device_failure_ + "; the processor did the rest");
  if (!prepared_.executor) return;
  for (PassReport pass : prepared_.executor->passes()) {
    pass.walk = number;
    report.passes.push_back(std::move(pass));
  }
}

PushedPart::PushedPart(Engine& engine, const Work& work, int verify_blocks, std::string picture)
    : ChainPart(engine, work, verify_blocks, std::move(picture)),
      feed_(plan(), pool()),
      bands_(plan().bands()) {}

void PushedPart::push(const ConstRows& rows, const Take& take) {
  while (next_ < bands_.size()) {
    Band band{.rows = bands_[next_], .source = feed_.next(bands_[next_], &rows)};
    if (!band.source) return;
    ++next_;
    filter(band);
    take(band.output());
  }
}

}  // namespace gpufilter
