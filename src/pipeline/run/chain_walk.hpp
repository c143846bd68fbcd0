// One walk through a picture: its input, the work on its bands, and the outputs among its stages.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "pipeline/execute/band_walk.hpp"
#include "pipeline/run/chain_part.hpp"
#include "pipeline/run/picture_input.hpp"
#include "pipeline/run/picture_output.hpp"

namespace gpufilter {

class ChainWalk {
 public:
  using Take = std::function<void(const ConstRows& rows)>;

  // Opens the input.
  explicit ChainWalk(PictureInput& input);

  // Call once, before everything below: the stages before the first output. With `verify_blocks`,
  // as in RunOptions.
  void prepare(Engine& engine, const Work& work, int verify_blocks);
  // What the stages so far yield is written to `output`, which has to outlive the walk, and `next`
  // continues with it; nothing: no stage follows.
  void add_output(PictureOutput& output, std::unique_ptr<ChainPart> next);

  [[nodiscard]] ReadAhead& reader() { return *reader_; }
  [[nodiscard]] const Prepared& first() const { return first_; }
  // The last stages: what they yield is the result of the walk.
  [[nodiscard]] const Prepared& last() const;
  [[nodiscard]] Timeline& first_timeline() { return timeline_; }
  [[nodiscard]] Timeline& last_timeline();
  [[nodiscard]] bool has_outputs() const { return !outputs_.empty(); }
  // Those of all stages.
  [[nodiscard]] int pass_count() const;

  // The memory of bands, for the first stages.
  [[nodiscard]] ImagePool& pool() { return first_.executor ? first_.executor->pool() : memory_; }
  // Whether bands need their source: not if the device decodes it, unless it is checked.
  [[nodiscard]] bool reads_source() const { return reads_source_; }
  // Of a band; without pixels if it does not need them.
  [[nodiscard]] ConstRows source(const Band& band) const;
  // Replaces the band by the result of the first stages, coded if the plan says so. Safe to call
  // from several threads for different bands.
  void filter(Band& band);
  // Takes the result of the first stages, in order. Writes the outputs, and gives the result of the
  // walk to `last`.
  void take(const ConstRows& rows, const Take& last) { take(0, rows, timeline_, last); }

  // Afterwards: adds its spans, passes and checked blocks to `report`, as the walk with this
  // number.
  void add_to(RunReport& report, int number) const;

 private:
  void take(std::size_t index, const ConstRows& rows, Timeline& timeline, const Take& last);

  const PictureInput& input_;
  Timeline timeline_;
  std::unique_ptr<ReadAhead> reader_;
  Prepared first_;
  bool reads_source_ = true;
  std::unique_ptr<BlockCheck> check_;  // of the first stages' result
  ImagePool memory_;
  std::vector<PictureOutput*> outputs_;
  std::vector<std::unique_ptr<ChainPart>> next_;  // after each output
};

}  // namespace gpufilter
