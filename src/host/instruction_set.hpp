// The vector instructions that the processor's loops are compiled for, and those in use.
#pragma once

#include <string_view>
#include <vector>

namespace gpufilter {

// Loops give the same bits with each. baseline: available on every processor of this architecture
// (SSE2, NEON). neon_dot: ARM64 with products of four bytes. avx2: x86-64-v3, with FMA. avx512:
// x86-64-v4. avx512_vnni: with products of four bytes. avx512_vbmi: and permutations of bytes. A
// set includes those before it of its architecture, so that loops compare sets: set >= avx512.
enum class InstructionSet { baseline, neon_dot, avx2, avx512, avx512_vnni, avx512_vbmi };

// "baseline", "avx2", ...: as the enumerators are called.
[[nodiscard]] std::string_view to_string(InstructionSet set);

// The sets that this machine supports, the best last.
[[nodiscard]] const std::vector<InstructionSet>& available_instruction_sets();

// The set in use: GPUFILTER_INSTRUCTION_SET's, if this variable is set, otherwise the best. Throws
// UsageError if this machine does not support the named one. Thread-safe; the variable is read
// once.
[[nodiscard]] InstructionSet instruction_set();

// Replaces the set in use while it exists. For tests, measurements and checks; no other thread may
// call instruction_set() meanwhile.
class InstructionSetInUse {
 public:
  explicit InstructionSetInUse(InstructionSet set);  // an available one
  ~InstructionSetInUse();
  InstructionSetInUse(const InstructionSetInUse&) = delete;
  InstructionSetInUse& operator=(const InstructionSetInUse&) = delete;

 private:
  InstructionSet before_;
};

// Makes instruction_set() return the baseline on this thread while it exists, for a loop that runs
// entirely on this thread.
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
