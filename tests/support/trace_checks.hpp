// The rules that a trace follows, so that viewers draw it correctly.
#pragma once

#include <string>

#include <nlohmann/json.hpp>

namespace gpufilter::test {

// What is wrong with a trace; empty if nothing is. Every process and track that has events has to
// have a name, no two tracks of a process the same one, and of two events of a track one has to end
// before the other begins or lie within it.
[[nodiscard]] std::string fault_of_trace(const nlohmann::json& trace);

}  // namespace gpufilter::test
