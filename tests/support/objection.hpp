// What a refusal says.
#pragma once

#include <string>
#include <vector>

#include <gtest/gtest.h>

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

// Expects that a stage takes some values and refuses others.
inline void expect_values(const StageKind& kind, const std::vector<std::string>& taken,
                          const std::vector<std::string>& refused) {
  for (const std::string& value : taken)
    EXPECT_EQ(objection_to_value(kind, value), "none") << value;
  for (const std::string& value : refused)
    EXPECT_NE(objection_to_value(kind, value), "none") << value;
}

}  // namespace gpufilter::test
