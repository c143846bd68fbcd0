#include "pipeline/run/chain_part.hpp"

#include <algorithm>
#include <cstring>
#include <random>
#include <utility>

namespace gpufilter {

void HandedRows::hand(const ConstRows& rows, int first_needed) {
  const RowRange needed{std::max(rows.rows.begin, first_needed), rows.rows.end};
  if (needed.begin >= needed.end) return;
  Image copy(header_.size.width, needed, header_.format);
  for (int y = needed.begin; y < needed.end; ++y)
    std::memcpy(copy.rows().row(y), rows.row(y), rows.pitch);
  kept_.push_back(std::move(copy));
}

void HandedRows::read(const MutableRows& rows) {
  for (int y = rows.rows.begin; y < rows.rows.end; ++y) {
    // Rows are read once and in order.
    while (!kept_.empty() && kept_.front().row_range().end <= y)
      kept_.pop_front();
    if (kept_.empty() || y < kept_.front().row_range().begin) continue;
    std::memcpy(rows.row(y), std::as_const(kept_.front()).rows().row(y), rows.pitch);
  }
}

ChainPart::ChainPart(Engine& engine, const Work& work, int verify_blocks, std::string input)
    : prepared_(engine.prepare(work, timeline_)),
      pool_(prepared_.executor ? prepared_.executor->pool() : plain_memory_),
      rows_(work.input),
      feed_(rows_, *prepared_.plan, pool_),
      input_(std::move(input)),
      bands_(prepared_.plan->bands()) {
  if (verify_blocks > 0 && prepared_.executor)
    check_.emplace(*prepared_.plan, verify_blocks, std::random_device()());
}

// Whether the first `rows` rows of the input are enough for the band.
bool ChainPart::is_fed(const RowRange& band, int rows) const {
  const Plan& plan = *prepared_.plan;
  return rows == plan.input.size.height ||
         (!plan.reads_past_edges() && plan.windows(band).front().end <= rows);
}

// The first row of the input that the next band reads; past the last one if there is no such band.
int ChainPart::first_needed() const {
  const Plan& plan = *prepared_.plan;
  if (plan.reads_past_edges()) return 0;
  if (next_ == bands_.size()) return plan.input.size.height;
  return plan.windows(bands_[next_]).front().begin;
}

void ChainPart::take(const ConstRows& rows, const Take& give) {
  rows_.hand(rows, first_needed());
  for (; next_ < bands_.size() && is_fed(bands_[next_], rows.rows.end); ++next_)
    filter(bands_[next_], give);
}

void ChainPart::filter(const RowRange& band, const Take& give) {
  const Image source = feed_.next(band);
  if (!prepared_.executor) return give(source.rows());
  const PictureShape& output = prepared_.plan->output();
  Image result = pool_.take(output.size.width, band, output.format);
  prepared_.executor->run(source.rows(), result.rows());
  if (check_)
    check_->check(source.rows(), std::as_const(result).rows(), input_, prepared_.report.device);
  give(std::as_const(result).rows());
}

}  // namespace gpufilter
