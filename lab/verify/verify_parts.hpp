// Verifies in several processes: drivers compile one kernel at a time in each.
#pragma once

#include <cstddef>
#include <functional>

#include "base/json.hpp"
#include "lab/verify/verifier.hpp"

namespace gpufilter::lab {

// How many processes are worth their start: one if this process has other threads already, which a
// new process would lack.
[[nodiscard]] std::size_t parts_to_verify();

// What `verify_part` returns for all parts together. It is called for the first part in this
// process and for each other one in a new process, which prints nothing. Throws what `verify_part`
// throws, and DeviceError if one of the processes ends before it has reported.
[[nodiscard]] VerifyReport verify_in_parts(
    std::size_t parts, const std::function<VerifyReport(const VerifyPart&)>& verify_part);

// "cases", "skipped", "variants", "first_failure".
[[nodiscard]] Json to_json(const VerifyReport& report);

}  // namespace gpufilter::lab
