// The stages of a chain as they were written, and which stage each parameter belongs to.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "stage/options/catalogue.hpp"

namespace gpufilter {

// An option and its value, as written; "--gray" has an empty one.
using GivenOption = std::pair<std::string, std::string>;

// A stage with the parameters that belong to it.
struct GivenStage {
  const StageKind* kind;
  std::string value;
  GivenParameters parameters = {};
  GivenFiles files = {};
};

// An option and its value, if it has one, as the user wrote them.
[[nodiscard]] std::string written(const std::string& option, const std::string& value);

// The stages that take a parameter: "--blur tiled", "--blur or --sharpen".
[[nodiscard]] std::string takers_of(const std::vector<StageKind>& catalogue,
                                    const std::string& parameter);

// `options` are stages and parameters of `catalogue`, in their order. A parameter belongs to the
// stage before it; before the first stage it is the default for every stage that takes it. Throws
// UsageError if a parameter is given twice for one stage, or if its stage does not take it.
[[nodiscard]] std::vector<GivenStage> given_stages(const std::vector<GivenOption>& options,
                                                   const std::vector<StageKind>& catalogue);

// The chain of these stages; the last --linear has an end. `limits` apply to pictures that stages
// read. Throws UsageError for invalid values, and for a misplaced --linear or --encoded.
[[nodiscard]] StageChain make_chain(const std::vector<GivenStage>& stages,
                                    const ReadLimits& limits = {});

}  // namespace gpufilter
