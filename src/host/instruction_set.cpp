#include "host/instruction_set.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdlib>
#include <stdexcept>

#include "base/error.hpp"
#include "base/format.hpp"

namespace gpufilter {
namespace {

std::vector<InstructionSet> detect() {
  std::vector<InstructionSet> sets{InstructionSet::baseline};
#ifdef __x86_64__
  // The instructions that compiled_for_avx2 and compiled_for_avx512 (host/loops.hpp) may use.
  const bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
                    __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2");
  if (avx2) sets.push_back(InstructionSet::avx2);
  const bool avx512 = avx2 && __builtin_cpu_supports("avx512f") &&
                      __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512cd") &&
                      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
  if (avx512) sets.push_back(InstructionSet::avx512);
#endif
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
  static constexpr std::array names{"baseline", "avx2", "avx512"};
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
