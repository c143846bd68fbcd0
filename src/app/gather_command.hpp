// gpufilter gather: the end of a run in shards.
#pragma once

namespace gpufilter {

// Exit code: 0 where every picture has its result, 1 where not.
int run_gather_command(int argc, const char* const* argv);

}  // namespace gpufilter
