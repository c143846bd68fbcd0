// Fuzzing: files are changed at random, and what reads them has to keep its promises on each.
// CONTRIBUTING.md says how to run it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "image/metadata.hpp"

namespace gpufilter::test {

// A source of random decisions, the same for the same seed and round everywhere.
class Mutator {
 public:
  Mutator(std::uint32_t seed, std::uint32_t round);

  // From 0 to count - 1; `count` is not 0.
  [[nodiscard]] std::size_t below(std::size_t count);
  [[nodiscard]] bool one_in(std::size_t count) { return below(count) == 0; }

  // Changes one place of `bytes`: flips a bit, sets, inserts, removes, repeats or moves bytes, adds
  // to a big-endian number, cuts off the end, or takes a part of `other`.
  void change(Bytes& bytes, const Bytes& other);

 private:
  void overwrite(Bytes& bytes);
  void add_to_number(Bytes& bytes);
  void remove(Bytes& bytes);
  void insert(Bytes& bytes, const Bytes& from);

  std::mt19937 random_;
};

// One kind of file.
struct FuzzTarget {
  std::string name;          // "png", for names of files
  std::vector<Bytes> seeds;  // valid files to begin with
  // Makes a damaged file of a copy of a seed; `other` is another seed. May repair checksums, so
  // that damage reaches what lies behind them.
  std::function<void(Bytes& file, const Bytes& other, Mutator&)> mutate;
  // What is wrong with how it is read; empty if nothing is. An exception is a finding, too.
  std::function<std::string(const Bytes& file)> check;
};

// One to four changes anywhere.
void change_anywhere(Bytes& file, const Bytes& other, Mutator& mutator);

// The program of some targets: fuzz_png [--list] [--target NAME] [--seed S] [--first R] [--rounds
// N]
// [--cpu-seconds T] [--slow] [--keep DIR] [FILE...]. Each target stops after N rounds or T seconds
// of CPU time. FILEs become seeds besides the targets' own. A file that is a finding, or that
// crashes the program (*.running), is kept in DIR/TARGET. A round repeats the same file, except
// where files join the seeds: with --slow, and if the library is instrumented (the preset fuzz).
// With --replay DIR, the files DIR/TARGET/* are checked instead, as they are. Returns 1 if there
// are findings, 2 for wrong arguments.
[[nodiscard]] int fuzz(int argc, char** argv, std::vector<FuzzTarget> targets);

}  // namespace gpufilter::test
