// The stages and their parameters on the command line.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "app/cli/arguments.hpp"
#include "pipeline/plan/plan.hpp"
#include "stages/given_stages.hpp"

namespace gpufilter {

// The stage of --resize with several sizes.
inline constexpr const char* sizes_option = "--sizes";

class StageOptions {
 public:
  // Adds an option for every stage, parameter and listing in `catalogue`. Both have to live as long
  // as this object. While `app` parses, values that do not fit their declaration throw UsageError.
  explicit StageOptions(Arguments& app,
                        const std::vector<StageKind>& catalogue = stage_catalogue());
  StageOptions(const StageOptions&) = delete;
  StageOptions& operator=(const StageOptions&) = delete;

  // Adds --sizes, for runs that write several results of a picture.
  void add_sizes();

  // The requested stages in their order. A parameter belongs to the stage before it; before the
  // first stage it is the default for every stage that takes it. The last --linear has an end.
  // `limits` are for pictures that stages read. Throws UsageError if a parameter is given twice for
  // one stage, or if its stage does not take it, and for a misplaced --linear or --encoded.
  [[nodiscard]] StageChain chain(const ReadLimits& limits = {}) const;

  // The sizes of --sizes, as given. Throws UsageError if it is repeated.
  [[nodiscard]] std::vector<std::string> sizes() const;
  // The number of stages before --sizes; nothing without it. The chain makes its last size.
  [[nodiscard]] std::optional<std::size_t> place_of_sizes() const;
  // The rest of `chain` from `place` on, where it makes the last size, for each of the other sizes.
  [[nodiscard]] std::vector<StageChain> branches(const StageChain& chain, std::size_t place) const;

  // A stage as it was typed: "--resize", "x0800 --kernel cubic".
  struct Typed {
    std::string option;
    std::string values;
  };
  // The stages of the chain as typed. Throws as chain() does.
  [[nodiscard]] std::vector<Typed> typed() const;

 private:
  [[nodiscard]] std::vector<GivenStage> given() const;
  void add(const std::string& option, const ValueType& type, const std::string& form,
           const std::string& help, const char* group);
  void add_listing(const StageListing& listing);

  Arguments& app_;
  const std::vector<StageKind>& catalogue_;
  std::map<std::string, std::vector<std::string>> values_;  // as given, by option
};

}  // namespace gpufilter
