// What a refusal says.
#pragma once

#include <string>

#include "base/error.hpp"
#include "stage/options/catalogue.hpp"

namespace gpufilter::test {

// The message of the error that `action` ends with; `none` if it does not.
template <typename Error = UsageError, typename Action>
[[nodiscard]] std::string objection_to(const Action& action, const std::string& none = "none") {
  try {
    static_cast<void>(action());
  } catch (const Error& error) {
    return error.what();
  }
  return none;
}

// What a stage answers to a value on the command line; "none" if it takes it.
[[nodiscard]] inline std::string objection_to_value(const StageKind& kind, const std::string& value,
                                                    const GivenParameters& given = {}) {
  return objection_to([&] { return kind.make(value, given); });
}

}  // namespace gpufilter::test
