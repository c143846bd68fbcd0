#include "pipeline/run/chain_walk.hpp"

#include <random>
#include <utility>

namespace gpufilter {
namespace {

int passes_of(const Prepared& prepared) {
  return prepared.executor ? static_cast<int>(prepared.executor->passes().size()) : 0;
}

void add_part(RunReport& report, int number, const Timeline& timeline, const Prepared& prepared) {
  const int first_pass = static_cast<int>(report.passes.size());
  for (Span span : timeline.spans()) {
    span.walk = number;
    if (span.pass >= 0) span.pass += first_pass;
    report.spans.push_back(span);
  }
  if (prepared.executor || report.passes.empty()) report.engine = prepared.report;
  if (!prepared.executor) return;
  for (PassReport pass : prepared.executor->passes()) {
    pass.walk = number;
    report.passes.push_back(std::move(pass));
  }
}

}  // namespace

ChainWalk::ChainWalk(PictureInput& input) : input_(input) {
  const ScopedSpan span(timeline_, {.activity = input.reading()});
  reader_ = input.open();
}

void ChainWalk::prepare(Engine& engine, const Work& work, int verify_blocks) {
  first_ = engine.prepare(work, timeline_);
  reads_source_ = !first_.executor || !first_.executor->decodes() || verify_blocks > 0;
  if (verify_blocks > 0 && first_.executor && !work.measure)
    check_ = std::make_unique<BlockCheck>(*first_.plan, verify_blocks, std::random_device()());
}

void ChainWalk::add_output(PictureOutput& output, std::unique_ptr<ChainPart> next) {
  outputs_.push_back(&output);
  next_.push_back(std::move(next));
}

const Prepared& ChainWalk::last() const {
  const Prepared* last = &first_;
  for (const auto& part : next_) {
    if (part) last = &part->prepared();
  }
  return *last;
}

Timeline& ChainWalk::last_timeline() {
  Timeline* last = &timeline_;
  for (const auto& part : next_) {
    if (part) last = &part->timeline();
  }
  return *last;
}

int ChainWalk::pass_count() const {
  int count = passes_of(first_);
  for (const auto& part : next_)
    count += part ? passes_of(part->prepared()) : 0;
  return count;
}

ConstRows ChainWalk::source(const Band& band) const {
  if (reads_source_) return band.image.rows();
  const PictureShape& input = first_.plan->input;
  return {nullptr, row_pitch(input), first_.plan->windows(band.rows).front(), input.size.width,
          input.format};
}

void ChainWalk::filter(Band& band) {
  if (!first_.executor) return;
  const PictureShape& result = first_.plan->output();
  Image output;
  const auto take_output = [&] {
    output = pool().take(result.size.width, band.rows, result.format);
    return output.rows();
  };
  if (first_.plan->coding) {
    band.coded = first_.executor->run_coded(source(band), band.rows, take_output);
  } else {
    first_.executor->run(source(band), take_output());
  }
  if (check_) {
    check_->check(std::as_const(band.image).rows(), std::as_const(output).rows(), input_.name(),
                  first_.report.device);
  }
  band.image = std::move(output);
}

void ChainWalk::take(std::size_t index, const ConstRows& rows, Timeline& timeline,
                     const Take& last) {
  if (index == outputs_.size()) return last(rows);
  outputs_[index]->write(rows, timeline);
  if (!next_[index]) return take(index + 1, rows, timeline, last);
  ChainPart& next = *next_[index];
  next.take(rows, [&](const ConstRows& result) { take(index + 1, result, next.timeline(), last); });
}

void ChainWalk::add_to(RunReport& report, int number) const {
  std::optional<int> checked;
  if (check_) checked = check_->checked();
  add_part(report, number, timeline_, first_);
  for (const auto& part : next_) {
    if (!part) continue;
    add_part(report, number, part->timeline(), part->prepared());
    if (const auto blocks = part->verified_blocks()) checked = checked.value_or(0) + *blocks;
  }
  if (checked) report.verified_blocks = report.verified_blocks.value_or(0) + *checked;
}

}  // namespace gpufilter
