// The subcommand "gpufilter compare A B".
#pragma once

namespace gpufilter {

// Carries the subcommand out; argv[0] is "compare". Returns its exit code: 0 equal, 1 different
// within the tolerance, 2 different, 3 other size or format; of folders the worst of all names. 4
// is everything that leaves the question open: a file that cannot be read, folders without
// pictures, a difference picture or a result that cannot be written, and wrong usage too, although
// that is 2 elsewhere: a script must never take a mistyped option for "different" (cmp and diff
// keep one code for trouble likewise). Every failure is reported here, nothing is thrown.
[[nodiscard]] int run_compare_command(int argc, const char* const* argv);

}  // namespace gpufilter
