#include "host/instruction_set.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdlib>
#include <stdexcept>

#if defined(__aarch64__) && defined(__linux__)
#include <sys/auxv.h>
#endif

#include "base/error.hpp"
#include "base/format.hpp"

namespace gpufilter {
namespace {

// Whether this machine has what `set` adds to those before it; host/loops.hpp compiles for these.
bool adds_to_machine([[maybe_unused]] InstructionSet set) {
#ifdef __x86_64__
  switch (set) {
    case InstructionSet::avx2:
      return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
             __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2");
    case InstructionSet::avx512:
      return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
             __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
             __builtin_cpu_supports("avx512vl");
    case InstructionSet::avx512_vnni:
      return __builtin_cpu_supports("avx512vnni");
    case InstructionSet::avx512_vbmi:
      return __builtin_cpu_supports("avx512vbmi");
    default:
      return false;
  }
#elif defined(__aarch64__) && defined(__linux__)
  return set == InstructionSet::neon_dot && (getauxval(AT_HWCAP) & HWCAP_ASIMDDP) != 0;
#else
  return false;
#endif
}

std::vector<InstructionSet> detect() {
#ifdef __x86_64__
  const std::vector candidates{InstructionSet::avx2, InstructionSet::avx512,
                               InstructionSet::avx512_vnni, InstructionSet::avx512_vbmi};
#else
  const std::vector candidates{InstructionSet::neon_dot};
#endif
  std::vector<InstructionSet> sets{InstructionSet::baseline};
  for (const InstructionSet set : candidates) {
    if (!adds_to_machine(set)) break;
    sets.push_back(set);
  }
  return sets;
}

bool is_available(InstructionSet set) {
  const auto& sets = available_instruction_sets();
  return std::find(sets.begin(), sets.end(), set) != sets.end();
}

InstructionSet choose() {
  const auto& sets = available_instruction_sets();
  const char* name = std::getenv("GPUFILTER_INSTRUCTION_SET");
  if (!name || !*name) return sets.back();
  std::vector<std::string_view> names;
  for (const InstructionSet set : sets) {
    if (to_string(set) == name) return set;
    names.push_back(to_string(set));
  }
  throw UsageError(
      formatted("GPUFILTER_INSTRUCTION_SET={}: this machine has {}", name, fmt::join(names, ", ")));
}

std::atomic<InstructionSet>& in_use() {
  static std::atomic<InstructionSet> set = choose();
  return set;
}

bool& baseline_here() {
  thread_local bool baseline = false;
  return baseline;
}

}  // namespace

std::string_view to_string(InstructionSet set) {
  static constexpr std::array names{"baseline", "neon_dot",    "avx2",
                                    "avx512",   "avx512_vnni", "avx512_vbmi"};
  return names.at(static_cast<std::size_t>(set));
}

const std::vector<InstructionSet>& available_instruction_sets() {
  static const std::vector<InstructionSet> sets = detect();
  return sets;
}

InstructionSet instruction_set() {
  if (baseline_here()) return InstructionSet::baseline;
  return in_use().load(std::memory_order_relaxed);
}

InstructionSetInUse::InstructionSetInUse(InstructionSet set) : before_(in_use()) {
  if (!is_available(set)) throw std::logic_error("this machine lacks the instruction set");
  in_use() = set;
}

InstructionSetInUse::~InstructionSetInUse() {
  in_use() = before_;
}

BaselineOnThisThread::BaselineOnThisThread() : before_(baseline_here()) {
  baseline_here() = true;
}

BaselineOnThisThread::~BaselineOnThisThread() {
  baseline_here() = before_;
}

}  // namespace gpufilter
