// The memory of a run over a folder.
#include "cli/batch_fixture.hpp"

namespace gpufilter::test {
namespace {

using BatchMemory = BatchTest;

// What a picture used is used again for the next one. A name and a line of the journal are kept.
TEST_F(BatchMemory, HardlyGrowsWithTheNumberOfPictures) {
  constexpr std::uint64_t few = 300;
  constexpr std::uint64_t many = 3000;
  constexpr std::uint64_t kept_for_each = 2U << 10U;
  put("p0.png", {32, 32});
  const auto add_copies = [this](std::uint64_t first, std::uint64_t end) {
    for (std::uint64_t i = first; i < end; ++i)
      std::filesystem::copy_file(in_ + "/p0.png", formatted("{}/p{}.png", in_, i));
  };
  add_copies(1, few);
  const std::uint64_t memory_of_few = good_batch({"-q"}).peak_memory;
  add_copies(few, many);
  const std::uint64_t memory_of_many = good_batch({"-q", "--on-exists", "overwrite"}).peak_memory;
  EXPECT_LT(memory_of_many, memory_of_few + kept_for_each * (many - few));
}

}  // namespace
}  // namespace gpufilter::test
