#include <algorithm>
#include <functional>
#include <optional>

#include "base/error.hpp"
#include "base/format.hpp"
#include "device/session.hpp"
#include "lab/bench/benches.hpp"
#include "lab/bench/report.hpp"
#include "lab/lab_kernels.hpp"
#include "lab/random_data.hpp"

namespace gpufilter::lab {
namespace {

using Words = std::vector<std::uint32_t>;

constexpr std::uint64_t bytes_for_gpu = std::uint64_t{256} << 20U;
constexpr std::uint64_t bytes_elsewhere = std::uint64_t{16} << 20U;
// Words in a row of the matrix and of the picture. Its multiples are divisible by every stride.
constexpr std::size_t row_words = 1024;
// A tile of transpose.cl, and the rows of a work-group that moves it.
constexpr std::size_t tile = 32;
constexpr std::size_t tile_group_height = 8;
constexpr std::size_t group_size = 256;

// The result of the kernel copy_strided.
void copy_strided(const Words& source, std::size_t stride, Words& target) {
  const std::size_t lines = source.size() / stride;
  std::uint32_t* to = target.data();
  for (std::size_t word = 0; word < stride; ++word) {
    for (std::size_t line = 0; line < lines; ++line)
      *to++ = source[line * stride + word];
  }
}

// The result of one branch of the kernel copy_branched.
std::uint32_t scrambled(std::uint32_t word, std::uint32_t branch) {
  for (int step = 0; step < 32; ++step)
    word = (word ^ word >> (branch % 13 + 3)) * (2 * branch + 3) + branch;
  return word;
}

// The sums of channels over nine pixels of four bytes, of which the low bytes are kept.
Words sums_of_nine(const Words& picture, std::size_t height) {
  Words sums(picture.size());
  const auto at = [&](std::ptrdiff_t x, std::ptrdiff_t y) {
    const auto column = std::clamp<std::ptrdiff_t>(x, 0, row_words - 1);
    const auto row = std::clamp<std::ptrdiff_t>(y, 0, static_cast<std::ptrdiff_t>(height) - 1);
    return picture[static_cast<std::size_t>(row) * row_words + static_cast<std::size_t>(column)];
  };
  for (std::size_t i = 0; i < picture.size(); ++i) {
    const auto x = static_cast<std::ptrdiff_t>(i % row_words);
    const auto y = static_cast<std::ptrdiff_t>(i / row_words);
    std::uint32_t word = 0;
    for (unsigned shift = 0; shift < 32; shift += 8) {
      std::uint32_t sum = 0;
      for (std::ptrdiff_t dy = -1; dy <= 1; ++dy) {
        for (std::ptrdiff_t dx = -1; dx <= 1; ++dx)
          sum += at(x + dx, y + dy) >> shift & 255U;
      }
      word |= (sum & 255U) << shift;
    }
    sums[i] = word;
  }
  return sums;
}

// Depends on the words and their positions.
std::uint64_t checksum(const Words& words) {
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < words.size(); ++i)
    sum += words[i] * (2 * std::uint64_t{i} + 1);
  return sum;
}

class AccessBench {
 public:
  AccessBench(const TestBed& bed, const AccessOptions& options, std::uint64_t bytes, Report& report)
      : bed_(bed),
        options_(options),
        report_(report),
        source_(bytes / sizeof(std::uint32_t)),
        target_(source_.size()),
        expected_(source_.size()) {
    fill_randomly(reinterpret_cast<std::uint8_t*>(source_.data()), bytes, 5);
  }

  void run() {
    for (const int stride : options_.strides)
      measure_host_stride(static_cast<std::size_t>(stride));
    if (!bed_.session) return;
    Session& session = *bed_.session;
    queue_.emplace(session.make_queue());
    from_ = session.allocate(bytes());
    to_ = session.allocate(bytes());
    queue_->upload(from_, source_.data(), bytes());
    queue_->finish();
    measure_copy();
    for (const int stride : options_.strides)
      measure_stride(stride);
    for (const int padding : {0, 1})
      measure_padding(padding);
    for (const int branches : options_.branches)
      measure_branches(branches);
    measure_pictures();
  }

 private:
  [[nodiscard]] std::size_t bytes() const { return source_.size() * sizeof(std::uint32_t); }
  [[nodiscard]] std::size_t rows() const { return source_.size() / row_words; }
  [[nodiscard]] std::int32_t count() const { return static_cast<std::int32_t>(source_.size()); }

  void add_row(const std::string& access, const char* where, const Measurement& measurement) {
    const double rate = 2 * static_cast<double>(bytes()) / measurement.best_clock().mean;
    double& copy = where == std::string(on_device) ? device_copy_ : host_copy_;
    if (copy == 0) copy = rate;
    Row row{{"access", access},
            {"where", std::string(where)},
            {"gbytes_per_s", rate * 1e-9},
            {"share_of_copy", rate / copy},
            {"checksum", formatted("{:016x}", checksum(target_))},
            {"bits", std::string(bits_of(target_ == expected_))}};
    add_times(row, measurement);
    report_.rows.push_back(std::move(row));
  }

  void poison() { std::fill(target_.begin(), target_.end(), 0xababababU); }

  void measure_host_stride(std::size_t stride) {
    bed_.step(formatted("strides of {} by the processor", stride));
    copy_strided(source_, stride, expected_);
    poison();
    const auto times = measure(bed_.trials, [&] { copy_strided(source_, stride, target_); });
    add_row(formatted("stride {}", stride), on_processor, times);
  }

  [[nodiscard]] Kernel kernel(const char* file, const char* function,
                              const std::string& options = {}) const {
    return bed_.session->make_kernel(
        {.file = file, .function = function, .options = options, .text = lab_kernels().at(file)});
  }

  // Measures the commands that `work` enqueues; their result, in to_, has to equal expected_.
  void measure_on_device(const std::string& access, const std::function<Event()>& work) {
    bed_.step(access);
    poison();
    queue_->upload(to_, target_.data(), bytes());
    queue_->finish();
    const auto times = measure(bed_.trials, *queue_, [&] { return std::vector{work()}; });
    queue_->download(to_, target_.data(), bytes());
    queue_->finish();
    add_row(access, on_device, times);
  }

  void measure_copy() {
    expected_ = source_;
    const CopyKernel copy(*bed_.session, "uint", sizeof(std::uint32_t));
    measure_on_device("copy", [&] { return copy.enqueue(*queue_, from_, to_, bytes()); });
  }

  void measure_stride(std::int32_t stride) {
    copy_strided(source_, static_cast<std::size_t>(stride), expected_);
    const Kernel strided = kernel("access.cl", "copy_strided");
    const std::int32_t lines = count() / stride;
    measure_on_device(formatted("stride {}", stride), [&] {
      return queue_->launch(
          strided,
          {static_cast<std::size_t>(lines), static_cast<std::size_t>(stride), group_size, 1},
          {from_, to_, lines, stride});
    });
  }

  void measure_padding(int padding) {
    for (std::size_t i = 0; i < source_.size(); ++i)
      expected_[i % row_words * rows() + i / row_words] = source_[i];
    const Kernel transpose =
        kernel("transpose.cl", "transpose", formatted("-D PADDING={}", padding));
    const auto height = static_cast<std::int32_t>(rows());
    const auto width = static_cast<std::int32_t>(row_words);
    const std::size_t tiles = (rows() + tile - 1) / tile;
    measure_on_device(formatted("local memory by columns, padding {}", padding), [&] {
      return queue_->launch(transpose,
                            {row_words, tiles * tile_group_height, tile, tile_group_height},
                            {from_, to_, height, width});
    });
  }

  void measure_branches(int branches) {
    for (std::size_t i = 0; i < source_.size(); ++i) {
      expected_[i] =
          scrambled(source_[i], static_cast<std::uint32_t>(i % static_cast<std::size_t>(branches)));
    }
    const Kernel branched =
        kernel("access.cl", "copy_branched", formatted("-D BRANCHES={}", branches));
    const std::int32_t words = count();
    measure_on_device(formatted("{} branch{}", branches, branches == 1 ? "" : "es"), [&] {
      return queue_->launch(branched, {source_.size(), 1, group_size, 1}, {from_, to_, words});
    });
  }

  void measure_pictures() {
    expected_ = sums_of_nine(source_, rows());
    const auto width = static_cast<std::int32_t>(row_words);
    const auto height = static_cast<std::int32_t>(rows());
    const auto measure_sums = [&](const char* function, const char* access, const Buffer& source) {
      const Kernel sums = kernel("access.cl", function);
      measure_on_device(access, [&] {
        return queue_->launch(sums, {row_words, rows(), 32, 8}, {source, to_, width, height});
      });
    };
    measure_sums("sums_from_buffer", "nine pixels from a buffer", from_);
    std::optional<Buffer> image;
    try {
      image = make_image(from_, row_words, rows(), source_.data());
    } catch (const DeviceError& error) {
      report_.notes.push_back(formatted("images are left out: {}", error.what()));
    }
    if (image) measure_sums("sums_from_image", "nine pixels from an image", *image);
  }

  const TestBed& bed_;
  const AccessOptions& options_;
  Report& report_;
  Words source_, target_, expected_;
  std::optional<Queue> queue_;
  Buffer from_, to_;
  double host_copy_ = 0;
  double device_copy_ = 0;
};

}  // namespace

Report bench_access(const TestBed& bed, const AccessOptions& options) {
  Report report = bed.start_report("access");
  report.columns = joined({{{"access", "access"}, {"where", "where"}},
                           time_columns(),
                           {{"gbytes_per_s", "GB/s", 4},
                            {"share_of_copy", "of copy"},
                            {"checksum", "checksum"},
                            {"bits", "bits"}}});
  report.chart = ChartOfBars{.title = "Access to memory",
                             .value = "gbytes_per_s",
                             .value_label = "GB/s, read and written",
                             .labels = {"access"}};
  std::uint64_t bytes = options.bytes;
  if (bytes == 0) bytes = has_gpu(bed) ? bytes_for_gpu : bytes_elsewhere;
  const auto row_bytes = row_words * sizeof(std::uint32_t);
  if (bytes % row_bytes != 0 || bytes / sizeof(std::uint32_t) > INT32_MAX) {
    throw UsageError(formatted("--bytes {}: take a multiple of {} up to 8 GiB", bytes, row_bytes));
  }
  check_memory(bed, formatted("--bytes {}", bytes), 3 * static_cast<double>(bytes),
               static_cast<double>(bytes));
  report.parameters.push_back({"bytes", static_cast<std::int64_t>(bytes)});
  AccessBench(bed, options, bytes, report).run();
  report.notes.emplace_back(
      "GB/s counts each word read and each word written once; of copy: share of the first row of "
      "the processor, or of the device");
  report.notes.emplace_back(
      "stride N: neighbouring work-items read words N apart; N branches: neighbouring work-items "
      "take N different branches of equal length");
  report.notes.emplace_back("checksum: of the result; bits: the result compared with a plain loop");
  return report;
}

}  // namespace gpufilter::lab
