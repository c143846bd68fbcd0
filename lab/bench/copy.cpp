#include "lab/bench/copy.hpp"

#include <algorithm>
#include <cstring>
#include <vector>

#include "base/format.hpp"
#include "host/parallel.hpp"
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

}  // namespace gpufilter::lab
