// One walk through a picture, from its input to the outputs among the stages.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "pipeline/run/chain_part.hpp"
#include "pipeline/run/picture_output.hpp"

namespace gpufilter {

// The input of a walk, the first part of the chain on its bands, and the outputs
// among the stages, each with the part that follows it.
class ChainWalk {
 public:
  using Take = PushedPart::Take;

  explicit ChainWalk(PictureInput& input) : first_(input.name()) {
    const ScopedSpan span(first_.timeline(), {.activity = input.reading()});
    reader_ = input.open();
  }

  // Writes the result of the stages so far to `output`, which has to outlive the walk, or what
  // `branch` makes of that; `next` continues with it; nullptr: no stage follows.
  void add_output(PictureOutput& output, std::unique_ptr<PushedPart> branch,
                  std::unique_ptr<PushedPart> next) {
    exits_.push_back({{&output}, std::move(branch), std::move(next)});
  }
  // `output` gets what the output before gets.
  void add_copy(PictureOutput& output, std::unique_ptr<PushedPart> next) {
    exits_.back().outputs.push_back(&output);
    exits_.back().next = std::move(next);
  }

  [[nodiscard]] ReadAhead& reader() { return *reader_; }
  [[nodiscard]] bool has_outputs() const { return !exits_.empty(); }
  // The stages before the first output; prepared before the others are added.
  [[nodiscard]] ChainPart& first() { return first_; }
  // The last stages, which yield the result of the walk.
  [[nodiscard]] ChainPart& last() {
    ChainPart* last = &first_;
    for (const Exit& exit : exits_) {
      if (exit.next) last = exit.next.get();
    }
    return *last;
  }
  // The passes of all stages.
  [[nodiscard]] int pass_count() const {
    int count = first_.pass_count();
    for (const Exit& exit : exits_) {
      for (const auto& part : {&exit.branch, &exit.next})
        count += *part ? (*part)->pass_count() : 0;
    }
    return count;
  }

  // Takes the result of the first stages, in order. Writes the outputs, and gives the result of the
  // walk to `last`, unless an output at its end is all that gets it.
  void take(const Band& band, const Take& last = {}) {
    if (band.coded)
      return exits_.back().outputs.back()->write_coded(*band.coded, first_.timeline());
    take(0, band.output(), first_.timeline(), last);
  }

  // Adds what all parts did to `report`, as the walk with this number.
  void add_to(RunReport& report, int number) const {
    first_.add_to(report, number);
    for (const Exit& exit : exits_) {
      for (const auto& part : {&exit.branch, &exit.next}) {
        if (*part) (*part)->add_to(report, number);
      }
    }
  }

 private:
  // Where outputs leave the chain.
  struct Exit {
    std::vector<PictureOutput*> outputs;
    std::unique_ptr<PushedPart> branch;  // the stages that only they go through
    std::unique_ptr<PushedPart> next;    // the stages after it
  };

  void take(std::size_t index, const ConstRows& rows, Timeline& timeline, const Take& last) {
    if (index == exits_.size()) return last ? last(rows) : void();
    Exit& exit = exits_[index];
    through(exit.branch.get(), rows, timeline, [&](const ConstRows& result, Timeline& own) {
      for (PictureOutput* output : exit.outputs)
        output->write(result, own);
    });
    through(exit.next.get(), rows, timeline,
            [&](const ConstRows& result, Timeline& own) { take(index + 1, result, own, last); });
  }

  // Gives `take` what `part` makes of the rows; nullptr: the rows.
  template <typename TakeIn>
  static void through(PushedPart* part, const ConstRows& rows, Timeline& timeline,
                      const TakeIn& take) {
    if (part == nullptr) return take(rows, timeline);
    part->push(rows, [&](const ConstRows& result) { take(result, part->timeline()); });
  }

  std::unique_ptr<ReadAhead> reader_;
  ChainPart first_;
  std::vector<Exit> exits_;
};

}  // namespace gpufilter
