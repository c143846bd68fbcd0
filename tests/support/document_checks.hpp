// Checks of documents: JSON by the schemas of docs/, SVG without drawing it, and traces.
#pragma once

#include <nlohmann/json.hpp>

#include "support/testing.hpp"

namespace gpufilter::test {

[[nodiscard]] bool has_schema_validator();

// Whether each text is valid by the schema in the file `name` below docs/.
[[nodiscard]] std::vector<bool> accepted_by_schema(const std::string& name,
                                                   const std::vector<std::string>& texts);

// Why `svg` is not well-formed: an element that is not closed, or a '<' or '&' in its text; empty
// if nothing was found.
[[nodiscard]] std::string objection_to_svg(std::string_view svg);

[[nodiscard]] std::size_t count_of(std::string_view text, std::string_view part);

// What is wrong with a trace; empty if nothing is. Every process and track that has events has to
// have a name, no two tracks of a process the same one, and of two events of a track one has to end
// before the other begins or lie within it.
[[nodiscard]] std::string fault_of_trace(const nlohmann::json& trace);

}  // namespace gpufilter::test

#define GPUFILTER_REQUIRE_VALIDATOR() \
  if (!has_schema_validator()) GTEST_SKIP() << "skipped: python3-jsonschema is not installed"
