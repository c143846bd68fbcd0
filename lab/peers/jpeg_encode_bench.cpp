// JPEG encoding on a device, beside the processor's: lab/peers/README.md.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <string>
#include <vector>

#include <gpufilter/gpufilter.hpp>

#include "base/threads.hpp"
#include "base/timeline.hpp"
#include "codec/codec_table.hpp"
#include "compute/jpeg_encoder.hpp"
#include "device/device_choice.hpp"
#include "image/image.hpp"

namespace gpufilter::bench {
namespace {

constexpr int runs = 9;

struct Times {
  double blocks = 1e9;  // ms; the fastest of all runs
  double joining = 1e9;
  double downloads = 1e9;
  double wall = 1e9;
};

double milliseconds(const std::vector<Event>& events) {
  return std::accumulate(events.begin(), events.end(), 0.0, [](double sum, const Event& event) {
    return sum + seconds(event.times().duration) * 1e3;
  });
}

Image read(const std::string& path) {
  const auto reader = open_picture(open_source(path));
  Image image(reader->header().size, reader->header().format);
  reader->read(image.rows());
  return image;
}

struct Target {
  PictureHeader header;
  WriteOptions options;
  const Codec& codec = codec_for_output("out.jpg");

  template <typename Write>
  [[nodiscard]] std::vector<std::uint8_t> file(const Write& write) const {
    std::vector<std::uint8_t> bytes;
    const auto sink = memory_sink(bytes, "out.jpg");
    const auto writer = create_picture(codec, *sink, header, options);
    write(*writer);
    writer->finish({});
    return bytes;
  }
};

void measure(Session& session, const Image& image, const std::string& quality,
             const std::string& subsampling) {
  Target target;
  target.header.size = image.size();
  target.header.format = image.format();
  for (const WriteOption* option : target.codec.options) {
    if (option->name == "quality") target.options.set(*option, quality);
    if (option->name == "subsampling") target.options.set(*option, subsampling);
  }
  double host = 1e9;
  std::vector<std::uint8_t> expected;
  for (int i = 0; i < 3; ++i) {
    const Nanoseconds start = now();
    expected = target.file([&](RowWriter& writer) { writer.write(image.rows()); });
    host = std::min(host, seconds(now() - start) * 1e3);
  }
  const JpegCoding coding = target.codec.coding(target.header, target.options).value();
  const Nanoseconds begun = now();
  JpegEncoder encoder(session, coding, image.size().height,
                      JpegEncoder::suitable_bytes(coding, image.size().height));
  const double build = seconds(now() - begun) * 1e3;
  Queue queue = session.make_queue();
  const Buffer rows = session.allocate(image.bytes() + row_slack);
  queue.upload(rows, image.rows().data, image.bytes());
  queue.finish();
  Times times;
  std::vector<std::uint8_t> found;
  for (int i = 0; i < runs; ++i) {
    JpegEncoder::Commands commands;
    const Nanoseconds start = now();
    const auto coded = encoder.encode(queue, {&rows, {0, image.size().height}}, commands);
    times.wall = std::min(times.wall, seconds(now() - start) * 1e3);
    times.blocks = std::min(times.blocks, milliseconds(commands.blocks));
    times.joining = std::min(times.joining, milliseconds(commands.joining));
    times.downloads = std::min(times.downloads, milliseconds(commands.downloads));
    if (coded) found = target.file([&](RowWriter& writer) { writer.write_coded(*coded); });
  }
  std::printf(
      "%4dx%-4d q%-3s %s %8zu bytes %s: blocks %.3f, joining %.3f, downloads %.3f, "
      "together %.3f ms; built in %.1f ms; processor %.1f ms\n",
      image.width(), image.size().height, quality.c_str(), subsampling.c_str(), expected.size(),
      found == expected ? "equal" : "DIFFERENT", times.blocks, times.joining, times.downloads,
      times.wall, build, host);
}

void run(const std::string& device, const std::vector<std::string>& paths) {
  for (const DeviceInfo& info : discover_devices()) {
    if (info.name.find(device) == std::string::npos) continue;
    std::printf("%s; processor: %zu threads\n", info.name.c_str(), allowed_threads());
    Session session(info, std::nullopt);
    for (const std::string& path : paths) {
      const Image image = read(path);
      measure(session, image, "85", "420");
      measure(session, image, "90", "420");
      measure(session, image, "90", "444");
      measure(session, image, "98", "444");
    }
  }
}

}  // namespace
}  // namespace gpufilter::bench

int main(int argc, char** argv) {
  gpufilter::answer_probes(argc, argv);
  if (argc < 3) {
    std::fprintf(stderr, "usage: jpeg_encode_bench DEVICE PICTURE...\n");
    return EXIT_FAILURE;
  }
  try {
    gpufilter::bench::run(argv[1], {argv + 2, argv + argc});
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return EXIT_FAILURE;
  }
  return EXIT_SUCCESS;
}
