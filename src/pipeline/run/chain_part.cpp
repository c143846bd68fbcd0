#include "pipeline/run/chain_part.hpp"

#include <algorithm>
#include <cstring>
#include <random>
#include <utility>

namespace gpufilter {

ChainPart::ChainPart(Engine& engine, const Work& work, int verify_blocks, std::string picture)
    : ChainPart(std::move(picture)) {
  prepare(engine, work, verify_blocks);
}

void ChainPart::prepare(Engine& engine, const Work& work, int verify_blocks) {
  prepared_ = engine.prepare(work, timeline_);
  const BandExecutor* executor = prepared_.executor.get();
  reads_source_ = executor == nullptr || !executor->decodes() || verify_blocks > 0;
  if (verify_blocks > 0 && executor != nullptr && !work.measure)
    check_.emplace(plan(), verify_blocks, std::random_device()());
}

int ChainPart::pass_count() const {
  return prepared_.executor ? static_cast<int>(prepared_.executor->passes().size()) : 0;
}

ImagePool& ChainPart::pool() {
  return prepared_.executor ? prepared_.executor->pool() : memory_;
}

BandWalk ChainPart::walk_through(RowReader& reader, std::uint64_t memory, Activity reading) {
  return {.reader = reader,
          .plan = plan(),
          .pool = pool(),
          .timeline = timeline_,
          .reading = reading,
          .bands_in_flight = bands_in_flight(plan(), memory),
          .reads = reads_source_};
}

// Without pixels if the band does not need them.
ConstRows ChainPart::source(const Band& band) const {
  if (reads_source_) return band.image.rows();
  const PictureShape& input = plan().input;
  return {nullptr, row_pitch(input), plan().windows(band.rows).front(), input.size.width,
          input.format};
}

void ChainPart::filter(Band& band) {
  if (!prepared_.executor) return;
  Image result;
  const auto take_result = [&] {
    result = pool().take(output().size.width, band.rows, output().format);
    return result.rows();
  };
  if (plan().coding) {
    band.coded = prepared_.executor->run_coded(source(band), band.rows, take_result);
  } else {
    prepared_.executor->run(source(band), take_result());
  }
  if (check_) {
    check_->check(std::as_const(band.image).rows(), std::as_const(result).rows(), picture_,
                  prepared_.report.device);
  }
  band.image = std::move(result);
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
  if (!prepared_.executor) return;
  for (PassReport pass : prepared_.executor->passes()) {
    pass.walk = number;
    report.passes.push_back(std::move(pass));
  }
}

void PushedRows::push(const ConstRows& rows, int first_needed) {
  const RowRange needed{std::max(rows.rows.begin, first_needed), rows.rows.end};
  if (needed.begin >= needed.end) return;
  Image copy(header_.size.width, needed, header_.format);
  for (int y = needed.begin; y < needed.end; ++y)
    std::memcpy(copy.rows().row(y), rows.row(y), rows.pitch);
  kept_.push_back(std::move(copy));
}

void PushedRows::read(const MutableRows& rows) {
  for (int y = rows.rows.begin; y < rows.rows.end; ++y) {
    // Rows are read once and in order.
    while (!kept_.empty() && kept_.front().row_range().end <= y)
      kept_.pop_front();
    if (kept_.empty() || y < kept_.front().row_range().begin) continue;
    std::memcpy(rows.row(y), std::as_const(kept_.front()).rows().row(y), rows.pitch);
  }
}

PushedPart::PushedPart(Engine& engine, const Work& work, int verify_blocks, std::string picture)
    : ChainPart(engine, work, verify_blocks, std::move(picture)),
      rows_(work.input),
      feed_(rows_, plan(), pool()),
      bands_(plan().bands()) {}

// Whether the first `rows` rows of the input are enough for the band.
bool PushedPart::is_fed(const RowRange& band, int rows) const {
  return rows == plan().input.size.height ||
         (!plan().reads_past_edges() && plan().windows(band).front().end <= rows);
}

// The first row of the input that the next band reads; past the last one if there is no such band.
int PushedPart::first_needed() const {
  if (plan().reads_past_edges()) return 0;
  if (next_ == bands_.size()) return plan().input.size.height;
  return plan().windows(bands_[next_]).front().begin;
}

void PushedPart::push(const ConstRows& rows, const Take& take) {
  rows_.push(rows, first_needed());
  for (; next_ < bands_.size() && is_fed(bands_[next_], rows.rows.end); ++next_) {
    Band band{.rows = bands_[next_], .image = feed_.next(bands_[next_]), .coded = {}};
    filter(band);
    take(std::as_const(band.image).rows());
  }
}

}  // namespace gpufilter
