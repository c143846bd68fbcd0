// JPEG files decoded on devices and by libjpeg: random ones, and damaged ones.
#include <iostream>

#include <gpufilter/devices.hpp>

#include "base/error.hpp"
#include "base/format.hpp"
#include "fuzz/mutate.hpp"
#include "support/filtering.hpp"
#include "support/jpeg_on_device.hpp"

namespace gpufilter::test {
namespace {

constexpr int max_side = 400;
const ReadLimits limits{.max_pixels = 1'000'000, .warn = false};

// Nothing if the device leaves the file to libjpeg.
std::optional<Bytes> on_device(Session& session, const Bytes& file) {
  try {
    return decode_on_device(session, file, 1 + static_cast<int>(file.size() % 150));
  } catch (const PictureError&) {
    return std::nullopt;
  }
}

std::string check(const Bytes& file) {
  for (const auto& session : all_sessions()) {
    const auto samples = on_device(*session, file);
    if (!samples) continue;
    const std::string refusal = refusal_of(file, limits);
    if (!refusal.empty()) return formatted("{} accepts it: {}", session->device().name, refusal);
    if (*samples != decode_with_codec(file, limits).samples)
      return formatted("{} yields other samples", session->device().name);
  }
  return "";
}

// Every other file is a new one.
void mutate(Bytes& file, const Bytes& other, Mutator& mutator) {
  if (mutator.one_in(2)) {
    std::mt19937 random(static_cast<std::uint32_t>(mutator.below(UINT32_MAX)));
    file = random_jpeg(random, max_side);
    return;
  }
  const std::size_t changes = 1 + mutator.below(3);
  for (std::size_t i = 0; i < changes; ++i)
    mutator.change(file, other);
}

std::vector<Bytes> seeds() {
  std::mt19937 random(1);
  std::vector<Bytes> files;
  while (files.size() < 20)
    files.push_back(random_jpeg(random, max_side));
  return files;
}

}  // namespace
}  // namespace gpufilter::test

int main(int argc, char** argv) {
  using namespace gpufilter::test;
  gpufilter::answer_probes(argc, argv);
  if (all_sessions().empty()) {
    std::cerr << "fuzz_jpeg_device: no OpenCL device\n";
    return 1;
  }
  for (const auto& session : all_sessions())
    std::cout << "device: " << session->device().name << '\n';
  return fuzz(argc, argv, {{"jpeg", seeds(), mutate, check}});
}
