// The vector instructions that the processor's loops are compiled for, and those in use.
#pragma once

#include <string_view>
#include <vector>

namespace gpufilter {

// baseline: what every processor of this architecture has. avx2: x86-64-v3, with FMA. avx512:
// x86-64-v4. Loops give the same bits with each.
enum class InstructionSet { baseline, avx2, avx512 };

// "baseline", "avx2" or "avx512".
[[nodiscard]] std::string_view to_string(InstructionSet set);

// Those that this machine has, the best last.
[[nodiscard]] const std::vector<InstructionSet>& available_instruction_sets();

// The set in use: the one that the environment variable GPUFILTER_INSTRUCTION_SET names, otherwise
// the best. Throws UsageError where the variable names none that this machine has. Safe to call
// from several threads; the variable is read once.
[[nodiscard]] InstructionSet instruction_set();

// Replaces the set in use as long as it lives. For tests, measurements and checks, while no other
// thread calls instruction_set().
class InstructionSetInUse {
 public:
  explicit InstructionSetInUse(InstructionSet set);  // an available one
  ~InstructionSetInUse();
  InstructionSetInUse(const InstructionSetInUse&) = delete;
  InstructionSetInUse& operator=(const InstructionSetInUse&) = delete;

 private:
  InstructionSet before_;
};

// Lets instruction_set() be the baseline on this thread alone as long as it lives, for a loop that
// runs on this thread from its beginning to its end.
class BaselineOnThisThread {
 public:
  BaselineOnThisThread();
  ~BaselineOnThisThread();
  BaselineOnThisThread(const BaselineOnThisThread&) = delete;
  BaselineOnThisThread& operator=(const BaselineOnThisThread&) = delete;

 private:
  bool before_;
};

}  // namespace gpufilter
