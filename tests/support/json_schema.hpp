// The JSON schemas of docs/, applied by python3-jsonschema.
#pragma once

#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace gpufilter::test {

[[nodiscard]] bool has_schema_validator();

// Whether each text is valid by the schema in the file `name` below docs/.
[[nodiscard]] std::vector<bool> accepted_by_schema(const std::string& name,
                                                   const std::vector<std::string>& texts);

}  // namespace gpufilter::test

#define GPUFILTER_REQUIRE_VALIDATOR() \
  if (!has_schema_validator()) GTEST_SKIP() << "skipped: python3-jsonschema is not installed"
