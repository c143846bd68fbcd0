// JPEG files decoded on a device, from compressed bytes in pinned memory to samples in pinned
// memory: lab/peers/README.md.
#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include <gpufilter/gpufilter.hpp>

#include "base/timeline.hpp"
#include "codec/codec.hpp"
#include "compute/jpeg_decoder.hpp"
#include "device/device_choice.hpp"
#include "image/image.hpp"

namespace gpufilter::bench {
namespace {

constexpr int runs = 21;

double milliseconds(Nanoseconds time) {
  return static_cast<double>(time) * 1e-6;
}

double median(std::vector<double> times) {
  std::nth_element(times.begin(), times.begin() + times.size() / 2, times.end());
  return times[times.size() / 2];
}

// The medians of several runs, in ms.
struct Times {
  double load = 0;   // transfer up and index
  double rows = 0;   // all rows, as one band, into the device's memory
  double total = 0;  // with the transfer down
  std::map<JpegStep, double> steps;
};

class Decoding {
 public:
  Decoding(Session& session, const JpegScan& scan, const PictureHeader& header)
      : scan_(scan),
        shape_{header.size, header.format},
        bytes_(session.allocate_pinned(scan_.max_bytes)),
        count_(scan_.read({bytes_.get(), scan_.max_bytes})),
        size_(row_pitch(shape_) * static_cast<std::size_t>(shape_.size.height)),
        samples_(session.allocate_pinned(size_)),
        target_(session.allocate(size_ + row_slack)),
        data_(session, scan_),
        rows_(session, data_, shape_.size.height),
        queue_(session.make_queue()) {}

  [[nodiscard]] std::size_t file_bytes() const { return count_; }
  [[nodiscard]] const std::uint8_t* samples() const { return samples_.get(); }

  Times times() {
    std::vector<double> load;
    std::vector<double> rows;
    std::vector<double> total;
    Times times;
    for (int run = 0; run < runs; ++run) {
      std::memset(samples_.get(), 0xA5, size_);
      commands_.clear();
      const auto [loaded, filled, done] = decode();
      if (run == 0) continue;
      load.push_back(loaded);
      rows.push_back(filled - loaded);
      total.push_back(done);
      for (const auto& [step, event] : commands_)
        times.steps[step] += milliseconds(event.times().duration) / (runs - 1);
    }
    times.load = median(load);
    times.rows = median(rows);
    times.total = median(total);
    return times;
  }

  // Lists the commands of the last run, in order, in microseconds.
  void list_commands() const {
    for (const auto& [step, event] : commands_)
      std::printf(" %d:%.0f", static_cast<int>(step),
                  static_cast<double>(event.times().duration) * 1e-3);
    std::printf("\n");
  }

 private:
  std::array<double, 3> decode() {
    const auto note = [this](JpegStep step, Event event) {
      commands_.emplace_back(step, std::move(event));
    };
    const Nanoseconds start = now();
    if (!data_.load(queue_, {bytes_.get(), count_}, note))
      throw std::runtime_error("left to libjpeg");
    const Nanoseconds loaded = now();
    rows_.enqueue(queue_, {&target_, {0, shape_.size.height}}, note);
    queue_.finish();
    const Nanoseconds filled = now();
    queue_.download(target_, samples_.get(), size_);
    queue_.finish();
    return {milliseconds(loaded - start), milliseconds(filled - start),
            milliseconds(now() - start)};
  }

  JpegScan scan_;
  PictureShape shape_;
  std::shared_ptr<std::uint8_t> bytes_;
  std::size_t count_;
  std::size_t size_;
  std::shared_ptr<std::uint8_t> samples_;
  Buffer target_;
  JpegData data_;
  JpegRows rows_;
  Queue queue_;  // goes first
  std::vector<std::pair<JpegStep, Event>> commands_;
};

bool is_equal(const Image& image, const std::uint8_t* samples) {
  const ConstRows rows = image.rows();
  const std::size_t bytes = static_cast<std::size_t>(rows.width) * rows.format.bytes_per_pixel();
  for (int y = rows.rows.begin; y < rows.rows.end; ++y) {
    if (std::memcmp(rows.row(y), samples + rows.pitch * static_cast<std::size_t>(y), bytes) != 0)
      return false;
  }
  return true;
}

void report(Session& session, const std::string& path) {
  const auto reader = open_picture(open_source(path));
  const auto scan = reader->jpeg_scan();
  if (!scan) {
    std::printf("%-34s not a baseline file of one scan\n", path.c_str());
    return;
  }
  Decoding decoding(session, *scan, reader->header());
  Times times;
  try {
    times = decoding.times();
  } catch (const std::runtime_error& error) {
    std::printf("%-34s %s\n", path.c_str(), error.what());
    return;
  }
  Image image(reader->header().size, reader->header().format);
  const Nanoseconds start = now();
  reader->read(image.rows());
  const double processor = milliseconds(now() - start);
  std::printf("%-34s %6.2f MB %8.3f %8.3f %8.3f | %7.3f %7.3f %7.3f %7.3f | %8.1f %s\n",
              path.substr(path.rfind('/') + 1).c_str(),
              static_cast<double>(decoding.file_bytes()) * 1e-6, times.load, times.rows,
              times.total, times.steps[JpegStep::upload], times.steps[JpegStep::entropy],
              times.steps[JpegStep::transform], times.steps[JpegStep::color], processor,
              is_equal(std::as_const(image), decoding.samples()) ? "equal" : "DIFFERENT");
  decoding.list_commands();
}

void report_all(int argc, char** argv) {
  const std::vector<DeviceInfo> devices = discover_devices();
  const std::string name = argc > 1 ? argv[1] : "";
  const auto found = std::find_if(devices.begin(), devices.end(), [&](const DeviceInfo& each) {
    return each.name.find(name) != std::string::npos;
  });
  if (found == devices.end()) throw std::runtime_error("no device " + name);
  Session session(*found, std::nullopt);
  std::printf(
      "%s; ms: load and index, rows, all with transfers | upload, entropy decoding, inverse "
      "DCT, upsampling | processor\n",
      found->name.c_str());
  for (int i = 2; i < argc; ++i)
    report(session, argv[i]);
}

}  // namespace
}  // namespace gpufilter::bench

int main(int argc, char** argv) {
  gpufilter::answer_probes(argc, argv);
  try {
    gpufilter::bench::report_all(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
  return 0;
}
