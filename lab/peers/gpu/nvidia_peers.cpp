// Times of NVIDIA's own libraries, NPP and cuBLAS, for the work of gpufilter's kernels, and of a
// copy. Usage: nvidia_peers [WIDTH HEIGHT]
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

#include <cublas_v2.h>
#include <cuda_runtime.h>
#include <npp.h>

namespace {

constexpr int repetitions = 11;

void check(cudaError_t error, const char* what) {
  if (error != cudaSuccess)
    throw std::runtime_error(std::string(what) + ": " + cudaGetErrorString(error));
}

class DeviceBytes {
 public:
  explicit DeviceBytes(std::size_t size) {
    check(cudaMalloc(&data_, size), "cudaMalloc");
    check(cudaMemset(data_, 77, size), "cudaMemset");
  }
  DeviceBytes(const DeviceBytes&) = delete;
  DeviceBytes& operator=(const DeviceBytes&) = delete;
  ~DeviceBytes() { cudaFree(data_); }

  template <typename T>
  [[nodiscard]] T* as() const {
    return static_cast<T*>(data_);
  }

 private:
  void* data_ = nullptr;
};

// Median milliseconds of `work` by CUDA's events, after one run that warms up.
double milliseconds(const std::function<void()>& work) {
  cudaEvent_t begin{};
  cudaEvent_t end{};
  check(cudaEventCreate(&begin), "cudaEventCreate");
  check(cudaEventCreate(&end), "cudaEventCreate");
  std::array<float, repetitions> times{};
  work();
  for (float& time : times) {
    check(cudaEventRecord(begin, nullptr), "cudaEventRecord");
    work();
    check(cudaEventRecord(end, nullptr), "cudaEventRecord");
    check(cudaEventSynchronize(end), "cudaEventSynchronize");
    check(cudaEventElapsedTime(&time, begin, end), "cudaEventElapsedTime");
  }
  cudaEventDestroy(begin);
  cudaEventDestroy(end);
  std::sort(times.begin(), times.end());
  return static_cast<double>(times[repetitions / 2]);
}

NppStreamContext stream_context() {
  NppStreamContext context{};
  cudaDeviceProp properties{};
  check(cudaGetDevice(&context.nCudaDeviceId), "cudaGetDevice");
  check(cudaGetDeviceProperties(&properties, context.nCudaDeviceId), "cudaGetDeviceProperties");
  std::printf("%s\n", properties.name);
  context.nMultiProcessorCount = properties.multiProcessorCount;
  context.nMaxThreadsPerMultiProcessor = properties.maxThreadsPerMultiProcessor;
  context.nMaxThreadsPerBlock = properties.maxThreadsPerBlock;
  context.nSharedMemPerBlock = properties.sharedMemPerBlock;
  context.nCudaDevAttrComputeCapabilityMajor = properties.major;
  context.nCudaDevAttrComputeCapabilityMinor = properties.minor;
  return context;
}

// Pictures of `channels` samples of 8 bits a pixel, and what was measured with them.
class Pictures {
 public:
  Pictures(NppiSize size, int channels, const NppStreamContext& context)
      : size_(size),
        channels_(channels),
        context_(context),
        pitch_(size.width * channels),
        bytes_(static_cast<std::size_t>(pitch_) * static_cast<std::size_t>(size.height)),
        source_(bytes_),
        target_(bytes_),
        copy_(milliseconds([this] {
          check(cudaMemcpyAsync(target(), source(), bytes_, cudaMemcpyDeviceToDevice, nullptr),
                "cudaMemcpyAsync");
        })) {
    print("copy by the driver", copy_);
  }

  void measure(const std::string& name, const std::function<NppStatus()>& work) {
    const NppStatus status = work();
    if (status != NPP_SUCCESS) {
      std::printf("%-28s NPP status %d\n", name.c_str(), static_cast<int>(status));
      return;
    }
    print(name, milliseconds([&] { work(); }));
  }

  [[nodiscard]] const Npp8u* source() const { return source_.as<Npp8u>(); }
  [[nodiscard]] Npp8u* target() const { return target_.as<Npp8u>(); }
  [[nodiscard]] int pitch() const { return pitch_; }
  [[nodiscard]] NppiSize size() const { return size_; }
  [[nodiscard]] const NppStreamContext& context() const { return context_; }

 private:
  void print(const std::string& name, double time) const {
    const double pixels = static_cast<double>(size_.width) * size_.height;
    std::printf("%-28s %d channels %8.3f ms %8.1f Gpx/s %6.2f of copy\n", name.c_str(), channels_,
                time, pixels / time / 1e6, copy_ / time);
  }

  NppiSize size_;
  int channels_;
  NppStreamContext context_;
  int pitch_;
  std::size_t bytes_;
  DeviceBytes source_;
  DeviceBytes target_;
  double copy_;
};

constexpr Npp32f sepia[3][4] = {
    {0.393F, 0.769F, 0.189F, 0}, {0.349F, 0.686F, 0.168F, 0}, {0.272F, 0.534F, 0.131F, 0}};
constexpr NppiSize mask{3, 3};
constexpr NppiPoint anchor{1, 1};

void measure_rgba(NppiSize size, const NppStreamContext& context) {
  Pictures p(size, 4, context);
  p.measure("NPP box 3x3", [&] {
    return nppiFilterBoxBorder_8u_C4R_Ctx(p.source(), p.pitch(), size, {0, 0}, p.target(),
                                          p.pitch(), size, mask, anchor, NPP_BORDER_REPLICATE,
                                          context);
  });
  p.measure("NPP Gauss 3x3", [&] {
    return nppiFilterGaussBorder_8u_C4R_Ctx(p.source(), p.pitch(), size, {0, 0}, p.target(),
                                            p.pitch(), size, NPP_MASK_SIZE_3_X_3,
                                            NPP_BORDER_REPLICATE, context);
  });
  p.measure("NPP colour twist", [&] {
    return nppiColorTwist32f_8u_C4R_Ctx(p.source(), p.pitch(), p.target(), p.pitch(), size, sepia,
                                        context);
  });
  DeviceBytes table(256);
  p.measure("NPP look-up (palette)", [&] {
    std::array<const Npp8u*, 4> tables{table.as<Npp8u>(), table.as<Npp8u>(), table.as<Npp8u>(),
                                       table.as<Npp8u>()};
    return nppiLUTPalette_8u_C4R_Ctx(p.source(), p.pitch(), p.target(), p.pitch(), size,
                                     tables.data(), 8, context);
  });
}

void measure_rgb(NppiSize size, const NppStreamContext& context) {
  Pictures p(size, 3, context);
  p.measure("NPP box 3x3", [&] {
    return nppiFilterBoxBorder_8u_C3R_Ctx(p.source(), p.pitch(), size, {0, 0}, p.target(),
                                          p.pitch(), size, mask, anchor, NPP_BORDER_REPLICATE,
                                          context);
  });
  p.measure("NPP colour twist", [&] {
    return nppiColorTwist32f_8u_C3R_Ctx(p.source(), p.pitch(), p.target(), p.pitch(), size, sepia,
                                        context);
  });
  DeviceBytes table(256);
  p.measure("NPP look-up (palette)", [&] {
    std::array<const Npp8u*, 3> tables{table.as<Npp8u>(), table.as<Npp8u>(), table.as<Npp8u>()};
    return nppiLUTPalette_8u_C3R_Ctx(p.source(), p.pitch(), p.target(), p.pitch(), size,
                                     tables.data(), 8, context);
  });
}

void measure_grey(NppiSize size, const NppStreamContext& context) {
  Pictures p(size, 1, context);
  p.measure("NPP box 3x3", [&] {
    return nppiFilterBoxBorder_8u_C1R_Ctx(p.source(), p.pitch(), size, {0, 0}, p.target(),
                                          p.pitch(), size, mask, anchor, NPP_BORDER_REPLICATE,
                                          context);
  });
  constexpr std::size_t scratch_bytes = 1U << 26U;  // more than any of these asks for
  DeviceBytes scratch(scratch_bytes);
  DeviceBytes result(8 * 256);
  p.measure("NPP sum", [&] {
    return nppiSum_8u_C1R_Ctx(p.source(), p.pitch(), size, scratch.as<Npp8u>(), result.as<Npp64f>(),
                              context);
  });
  p.measure("NPP histogram", [&] {
    return nppiHistogramEven_8u_C1R_Ctx(p.source(), p.pitch(), size, result.as<Npp32s>(), 257, 0,
                                        256, scratch.as<Npp8u>(), context);
  });
}

// float32 without TF32: cuBLAS' default mode for single precision.
void measure_product(cublasHandle_t handle, int m, int n, int k) {
  const auto bytes = [](int rows, int columns) {
    return sizeof(float) * static_cast<std::size_t>(rows) * static_cast<std::size_t>(columns);
  };
  const DeviceBytes a(bytes(m, k));
  const DeviceBytes b(bytes(k, n));
  const DeviceBytes c(bytes(m, n));
  constexpr float one = 1;
  constexpr float zero = 0;
  const double time = milliseconds([&] {
    if (cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, m, n, k, &one, a.as<float>(), m,
                    b.as<float>(), k, &zero, c.as<float>(), m) != CUBLAS_STATUS_SUCCESS)
      throw std::runtime_error("cublasSgemm failed");
  });
  std::printf("cuBLAS SGEMM %d x %d x %d: %.3f ms, %.1f TFLOP/s\n", m, n, k, time,
              2.0 * m * n * k / time / 1e9);
}

}  // namespace

int main(int argc, char** argv) {
  try {
    NppiSize size{16384, 8192};
    if (argc == 3) size = {std::atoi(argv[1]), std::atoi(argv[2])};
    const NppStreamContext context = stream_context();
    measure_rgba(size, context);
    measure_rgb(size, context);
    measure_grey(size, context);
    cublasHandle_t handle = nullptr;
    if (cublasCreate(&handle) != CUBLAS_STATUS_SUCCESS)
      throw std::runtime_error("cublasCreate failed");
    for (const int n : {1024, 2048, 4096, 8192})
      measure_product(handle, n, n, n);
    cublasDestroy(handle);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "nvidia_peers: %s\n", error.what());
    return 1;
  }
  return 0;
}
