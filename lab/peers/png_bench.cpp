// How long PNG files take to write on one core, and how large they become: lab/peers/README.md.
#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <exception>
#include <functional>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "base/format.hpp"
#include "base/threads.hpp"
#include "codec/codec.hpp"
#include "codec/formats.hpp"
#include "image/image.hpp"
#ifdef PNG_BENCH_FPNGE
#include "peer_fpnge.hpp"
#endif

namespace gpufilter::bench {
namespace {

class CountingSink final : public ByteSink {
 public:
  [[nodiscard]] const std::string& name() const override { return name_; }
  void write(std::span<const std::uint8_t> bytes) override { bytes_ += bytes.size(); }
  void commit() override {}
  [[nodiscard]] std::uint64_t bytes_written() const override { return bytes_; }

 private:
  std::string name_ = "nowhere";
  std::uint64_t bytes_ = 0;
};

Image picture(const std::string& path) {
  const auto reader = open_picture(open_source(path));
  Image image(reader->header().size, reader->header().format);
  reader->read(image.rows());
  (void)reader->finish();
  return image;
}

std::uint64_t written_size(const Image& image, int level) {
  CountingSink sink;
  PictureHeader header;
  header.size = image.size();
  header.format = image.format();
  WriteOptions options;
  options.set(png_level_option(), std::to_string(level));
  const auto writer = create_picture(png_codec(), sink, header, options);
  writer->write(image.rows());
  writer->finish({});
  return sink.bytes_written();
}

double processor_seconds() {
  return static_cast<double>(std::clock()) / CLOCKS_PER_SEC;
}

// Prints the fastest of several runs.
void measure(const std::string& what, const std::function<std::uint64_t()>& write) {
  constexpr int runs = 5;
  constexpr double long_enough = 3;  // seconds
  double fastest = 1e9;
  double all = 0;
  std::uint64_t size = 0;
  for (int i = 0; i < runs && all < long_enough; ++i) {
    const double begin = processor_seconds();
    size = write();
    const double seconds = processor_seconds() - begin;
    fastest = std::min(fastest, seconds);
    all += seconds;
  }
  std::cout << formatted("  {:<10} {:>8.1f} ms {:>11} bytes\n", what, fastest * 1e3, size);
}

void measure_all(const std::string& path, const std::string& levels) {
  const Image image = picture(path);
  std::cout << formatted("{}: {} x {}, {}\n", path, image.size().width, image.size().height,
                         to_string(image.format()));
  for (const char level : levels)
    measure(formatted("level {}", level), [&] { return written_size(image, level - '0'); });
#ifdef PNG_BENCH_FPNGE
  if (image.format().depth != 8) return;
  for (const int level : {3, 4})
    measure(formatted("fpnge {}", level), [&] { return fpnge_size(image, level); });
#endif
}

}  // namespace
}  // namespace gpufilter::bench

int main(int argc, char** argv) {
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  if (arguments.size() < 2 || arguments[0].find_first_not_of("0123456789") != std::string::npos) {
    std::cerr << "png_bench LEVELS PICTURE...    # LEVELS: digits, as in 136\n";
    return EXIT_FAILURE;
  }
  try {
    const gpufilter::ThreadLimit one(1);
    for (std::size_t i = 1; i < arguments.size(); ++i)
      gpufilter::bench::measure_all(arguments[i], arguments[0]);
  } catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    return EXIT_FAILURE;
  }
  return EXIT_SUCCESS;
}
