// gpufilter gather: the end of a run in shards.
#pragma once

namespace gpufilter {

// argv[0] is "gather". Returns 0 if every picture has its result, otherwise 1.
int run_gather_command(int argc, const char* const* argv);

}  // namespace gpufilter
