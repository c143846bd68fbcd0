// "gpufilter bench blur", "color", "lookup", "stages", "mlp" and "net".
#pragma once

namespace gpufilter {

// argv[0] is the benchmark's name; otherwise as run_bench_command().
[[nodiscard]] int run_bench_blur(int argc, const char* const* argv);
[[nodiscard]] int run_bench_color(int argc, const char* const* argv);
[[nodiscard]] int run_bench_lookup(int argc, const char* const* argv);
[[nodiscard]] int run_bench_stages(int argc, const char* const* argv);
[[nodiscard]] int run_bench_mlp(int argc, const char* const* argv);
[[nodiscard]] int run_bench_net(int argc, const char* const* argv);

}  // namespace gpufilter
