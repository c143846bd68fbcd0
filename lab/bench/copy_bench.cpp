#include <algorithm>
#include <cstring>
#include <vector>

#include "base/error.hpp"
#include "base/format.hpp"
#include "host/parallel.hpp"
#include "image/image.hpp"
#include "lab/bench/benches.hpp"
#include "lab/bench/report.hpp"
#include "lab/random_data.hpp"

namespace gpufilter::lab {
namespace {

constexpr std::size_t copy_group_size = 256;
constexpr std::size_t part_bytes = std::size_t{1} << 20U;

}  // namespace

CopyKernel::CopyKernel(Session& session, const char* word, std::size_t word_bytes)
    : kernel_(session.make_kernel(
          {"copy.cl", "copy_words",
           formatted("-D WORD={} -D GROUP_WIDTH={} -D GROUP_HEIGHT=1", word, copy_group_size)})),
      word_bytes_(word_bytes) {}

Event CopyKernel::enqueue(Queue& queue, const Buffer& source, const Buffer& target,
                          std::size_t bytes) const {
  const auto words = static_cast<std::int32_t>(bytes / word_bytes_);
  return queue.launch(kernel_, {static_cast<std::size_t>(words), 1, copy_group_size, 1},
                      {source, target, words});
}

void copy_on_all_cores(std::uint8_t* target, const std::uint8_t* source, std::size_t bytes) {
  const auto parts = static_cast<int>((bytes + part_bytes - 1) / part_bytes);
  run_parts(parts, [=](int part) {
    const std::size_t begin = static_cast<std::size_t>(part) * part_bytes;
    std::memcpy(target + begin, source + begin, std::min(part_bytes, bytes - begin));
  });
}

CopyRates measure_copies(const TestBed& bed, std::size_t bytes) {
  bed.step("copy");
  const auto moved = 2 * static_cast<double>(bytes);
  const auto source = allocate_image_memory(bytes);
  const auto target = allocate_image_memory(bytes);
  fill_randomly(source.get(), bytes, 1);
  CopyRates rates;
  const auto one = measure(bed.trials, [&] { std::memcpy(target.get(), source.get(), bytes); });
  rates.one_core = moved / one.wall.mean;
  const auto all =
      measure(bed.trials, [&] { copy_on_all_cores(target.get(), source.get(), bytes); });
  rates.all_cores = moved / all.wall.mean;
  if (!bed.session) return rates;
  const CopyKernel kernel(*bed.session, "uint4", 16);
  const Buffer from = bed.session->allocate(bytes);
  const Buffer to = bed.session->allocate(bytes);
  Queue queue = bed.session->make_queue();
  queue.upload(from, source.get(), bytes);
  const auto device = measure(bed.trials, queue,
                              [&] { return std::vector{kernel.enqueue(queue, from, to, bytes)}; });
  rates.device = moved / device.best_clock().mean;
  return rates;
}

namespace {

constexpr std::uint64_t copied_for_gpu = std::uint64_t{256} << 20U;
constexpr std::uint64_t copied_elsewhere = std::uint64_t{64} << 20U;

// All rows of one size.
class CopyBench {
 public:
  CopyBench(const TestBed& bed, std::uint64_t bytes, Report& report)
      : bed_(bed),
        report_(report),
        bytes_(static_cast<std::size_t>(bytes)),
        source_(allocate_image_memory(bytes_)),
        target_(allocate_image_memory(bytes_)) {
    fill_randomly(source_.get(), bytes_, 1);
  }

  void run() {
    measure_host();
    if (!bed_.session) return;
    Session& session = *bed_.session;
    Queue queue = session.make_queue();
    const Buffer from = session.allocate(bytes_);
    const Buffer to = session.allocate(bytes_);
    queue.upload(from, source_.get(), bytes_);
    queue.finish();
    measure_device(queue, from, to);
    measure_transfers(queue, from);
  }

 private:
  void poison() { std::memset(target_.get(), 0xab, bytes_); }
  [[nodiscard]] bool arrived() const {
    return std::memcmp(target_.get(), source_.get(), bytes_) == 0;
  }

  // `ceiling`: the rate, in bytes per second, of which the share is given.
  void add_row(const std::string& what, const char* where, const char* variant, double moved,
               const Measurement& measurement, double ceiling) {
    Row row{{"mb", static_cast<double>(bytes_) * 1e-6},
            {"copy", what},
            {"where", std::string(where)},
            {"variant", std::string(variant)},
            {"bits", std::string(bits_of(arrived()))}};
    add_times(row, measurement);
    const double rate = moved / measurement.best_clock().mean;
    row["gbytes_per_s"] = rate * 1e-9;
    if (ceiling > 0) row["share_of_copy"] = rate / ceiling;
    report_.rows.push_back(std::move(row));
  }

  void measure_host() {
    const double moved = 2 * static_cast<double>(bytes_);
    bed_.step("copy by the processor");
    poison();
    const auto all =
        measure(bed_.trials, [&] { copy_on_all_cores(target_.get(), source_.get(), bytes_); });
    const double ceiling = moved / all.wall.mean;
    add_row("all cores", on_processor, "memcpy", moved, all, ceiling);
    poison();
    const auto one =
        measure(bed_.trials, [&] { std::memcpy(target_.get(), source_.get(), bytes_); });
    add_row("one core", on_processor, "memcpy", moved, one, ceiling);
  }

  void measure_device(Queue& queue, const Buffer& from, const Buffer& to) {
    struct Word {
      const char* name;
      std::size_t bytes;
    };
    const double moved = 2 * static_cast<double>(bytes_);
    const auto measure_commands = [&](const QueuedWork& work) {
      poison();
      queue.upload(to, target_.get(), bytes_);
      queue.finish();
      const Measurement measurement = measure(bed_.trials, queue, work);
      queue.download(to, target_.get(), bytes_);
      queue.finish();
      return measurement;
    };
    double ceiling = 0;
    for (const Word& word : {Word{"uint4", 16}, {"uint2", 8}, {"uint", 4}}) {
      bed_.step(formatted("copy by a kernel, {}", word.name));
      const CopyKernel kernel(*bed_.session, word.name, word.bytes);
      const Measurement measurement =
          measure_commands([&] { return std::vector{kernel.enqueue(queue, from, to, bytes_)}; });
      if (ceiling == 0) ceiling = moved / measurement.best_clock().mean;
      add_row(formatted("kernel, {} bytes per work-item", word.bytes), on_device, word.name, moved,
              measurement, ceiling);
    }
    const Measurement measurement =
        measure_commands([&] { return std::vector{queue.copy(from, to, bytes_)}; });
    add_row("by the driver", on_device, "clEnqueueCopyBuffer", moved, measurement, ceiling);
  }

  // Counts each byte once.
  void measure_transfers(Queue& queue, const Buffer& buffer) {
    const auto moved = static_cast<double>(bytes_);
    const auto pinned = bed_.session->allocate_pinned(bytes_);
    struct Memory {
      const char* name;
      std::uint8_t* data;
    };
    for (const Memory& memory : {Memory{"pinned", pinned.get()}, {"pageable", target_.get()}}) {
      bed_.step(formatted("transfers, {} memory", memory.name));
      std::memcpy(memory.data, source_.get(), bytes_);
      const auto up = measure(bed_.trials, queue, [&] {
        return std::vector{queue.upload(buffer, memory.data, bytes_)};
      });
      std::memset(memory.data, 0xab, bytes_);
      const auto down = measure(bed_.trials, queue, [&] {
        return std::vector{queue.download(buffer, memory.data, bytes_)};
      });
      if (memory.data != target_.get()) std::memcpy(target_.get(), memory.data, bytes_);
      add_row(formatted("upload, {}", memory.name), on_device, "", moved, up, 0);
      add_row(formatted("download, {}", memory.name), on_device, "", moved, down, 0);
    }
  }

  const TestBed& bed_;
  Report& report_;
  std::size_t bytes_;
  std::shared_ptr<std::uint8_t> source_;
  std::shared_ptr<std::uint8_t> target_;
};

}  // namespace

Report bench_copy(const TestBed& bed, const CopyOptions& options) {
  Report report = bed.start_report("copy");
  report.columns = joined({{{"mb", "MB", 4}, {"copy", "copy"}, {"where", "where"}},
                           time_columns(),
                           {{"gbytes_per_s", "GB/s", 4},
                            {"share_of_copy", "of copy"},
                            {"bits", "bits"},
                            {"variant", "variant"}}});
  report.chart = ChartOfBars{.title = "Copies of memory",
                             .value = "gbytes_per_s",
                             .value_label = "GB/s, read and written; transfers: GB/s one way",
                             .labels = {"mb", "copy", "variant"}};
  std::vector<std::uint64_t> sizes = options.bytes;
  if (sizes.empty()) sizes.push_back(has_gpu(bed) ? copied_for_gpu : copied_elsewhere);
  for (const std::uint64_t bytes : sizes) {
    // The kernels count words of 4 bytes in 32 bits.
    if (bytes % 16 != 0 || bytes / 4 > INT32_MAX) {
      throw UsageError(formatted("copies of {} bytes: take a multiple of 16 up to 8 GiB", bytes));
    }
    CopyBench(bed, bytes, report).run();
  }
  report.notes.emplace_back(
      "GB/s counts bytes read and bytes written; for transfers between host and device, bytes "
      "sent");
  report.notes.emplace_back(
      "of copy: share of the rate in the first row of the processor, or of the device");
  return report;
}

}  // namespace gpufilter::lab
