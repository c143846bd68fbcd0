// Shared by all benchmarks of the processor's loops: the pictures, and how rates are counted.
#pragma once

#include <functional>
#include <string>

#include <benchmark/benchmark.h>

#include "image/image.hpp"

namespace gpufilter::bench {

inline constexpr ImageSize size{3072, 2048};
inline constexpr int strip_rows = 16;  // as the pipeline hands them to the loops
inline constexpr PixelFormat rgb{3, 8};
inline constexpr PixelFormat rgba{4, 8};

// The pictures for all libraries, in separate memory: slopes with noise, as in a photograph; alpha
// at its maximum.
[[nodiscard]] const Image& source(const PixelFormat& format);
[[nodiscard]] Image& target(const PixelFormat& format);

// "RGB8" or "RGBA8".
[[nodiscard]] std::string name(const PixelFormat& format);

// Runs `pass`, over all pixels of a picture once, as NAME; the table shows millions of pixels a
// second. `flops`: floating-point operations a pixel, for one more column.
void add(const std::string& name, const std::function<void()>& pass, double flops = 0);

// Each adds its benchmarks.
void add_host_loops();
void add_host_stages();
void add_opencv();
void add_openblas();
void add_simd();

}  // namespace gpufilter::bench
