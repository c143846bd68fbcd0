// The subcommand "gpufilter compare A B".
#pragma once

namespace gpufilter {

// Runs the subcommand; argv[0] is "compare". Returns its exit code: 0 equal, 1 different within the
// tolerance, 2 different, 3 different size or format; for folders the highest code of all names. 4
// means that there is no answer: a file that cannot be read, folders without pictures, a difference
// picture or a result that cannot be written. Wrong usage is 4 too, although it is 2 elsewhere: a
// script must never mistake a mistyped option for "different" (cmp and diff also have one code for
// trouble). All failures are reported here; nothing is thrown.
[[nodiscard]] int run_compare_command(int argc, const char* const* argv);

}  // namespace gpufilter
