// A part of a chain that runs in one go, on bands that are read or pushed.
#pragma once

#include <deque>
#include <functional>
#include <optional>

#include "base/timeline.hpp"
#include "pipeline/choose/engine.hpp"
#include "pipeline/execute/band_walk.hpp"
#include "pipeline/execute/host_check.hpp"
#include "pipeline/run/run.hpp"

namespace gpufilter {

// Neighbouring stages, planned, prepared on an engine, and checked if that is wanted.
class ChainPart {
 public:
  // `picture` is its name in messages.
  explicit ChainPart(std::string picture) : picture_(std::move(picture)) {}
  // Prepares it at once.
  ChainPart(Engine& engine, const Work& work, int verify_blocks, std::string picture);

  // Call once, before everything below but timeline(). With `verify_blocks`, as in RunOptions.
  // Throws what Engine::prepare() throws.
  void prepare(Engine& engine, const Work& work, int verify_blocks = 0);

  [[nodiscard]] Timeline& timeline() { return timeline_; }
  [[nodiscard]] const Prepared& prepared() const { return prepared_; }
  [[nodiscard]] const Plan& plan() const { return *prepared_.plan; }
  [[nodiscard]] const PictureShape& output() const { return prepared_.plan->output(); }
  [[nodiscard]] int pass_count() const;
  // The memory of bands.
  [[nodiscard]] ImagePool& pool();

  // A walk through the bands that `reader` yields, as many at the same time as `memory` has room
  // for. They have no source if the device decodes it, unless it is checked.
  [[nodiscard]] BandWalk walk_through(RowReader& reader, std::uint64_t memory,
                                      Activity reading = Activity::decode);
  // Replaces a band's source by its result, coded if the plan says so. Safe to call from several
  // threads for different bands, as measure() is.
  void filter(Band& band);
  // For a plan that measures: adds the band to the executor's statistics.
  void measure(const Band& band) { prepared_.executor->measure(source(band), band.rows); }

  // Afterwards: adds its spans, passes and checked blocks to `report`, as the walk with this
  // number.
  void add_to(RunReport& report, int number) const;

 private:
  [[nodiscard]] ConstRows source(const Band& band) const;

  std::string picture_;
  Timeline timeline_;
  Prepared prepared_;
  bool reads_source_ = true;
  ImagePool memory_;
  std::optional<BlockCheck> check_;
};

// Rows that are pushed before they are read.
class PushedRows final : public RowReader {
 public:
  explicit PushedRows(const PictureShape& shape) {
    header_.size = shape.size;
    header_.format = shape.format;
  }

  // The next rows; they are copied, without those before `first_needed`, whose samples are
  // unspecified when they are read.
  void push(const ConstRows& rows, int first_needed);
  void read(const MutableRows& rows) override;
  Metadata finish() override { return {}; }

 private:
  std::deque<Image> kept_;  // rows that follow one another
};

// The part that follows an output: it continues with the rows that are written there.
class PushedPart : public ChainPart {
 public:
  using Take = std::function<void(const ConstRows& rows)>;

  // Throws what ChainPart::prepare() throws.
  PushedPart(Engine& engine, const Work& work, int verify_blocks, std::string picture);

  // The next rows of its input. Gives every band of the result that they complete to `take`.
  void push(const ConstRows& rows, const Take& take);

 private:
  [[nodiscard]] bool is_fed(const RowRange& band, int rows) const;
  [[nodiscard]] int first_needed() const;

  PushedRows rows_;
  BandFeed feed_;
  std::vector<RowRange> bands_;
  std::size_t next_ = 0;
};

}  // namespace gpufilter
