#include <memory>

#include <gtest/gtest.h>

#include "base/background.hpp"

namespace gpufilter {
namespace {

TEST(IdlePool, SizesAreFewAndWasteLittle) {
  std::size_t sizes = 0;
  std::size_t before = 0;
  for (std::size_t bytes = 1; bytes <= 100'000; ++bytes) {
    const std::size_t size = pooled_size(bytes);
    ASSERT_GE(size, bytes);
    ASSERT_LE(size, bytes + bytes / 8);
    ASSERT_GE(size, before) << "of " << bytes;
    ASSERT_EQ(pooled_size(size), size) << "of " << bytes;
    sizes += size != before ? 1 : 0;
    before = size;
  }
  EXPECT_LT(sizes, 150U);
}

TEST(IdlePool, GivesWhatHasTheSize) {
  IdlePool<std::unique_ptr<int>> pool(1000);
  EXPECT_FALSE(pool.take(10).has_value());
  pool.put(10, std::make_unique<int>(1));
  pool.put(20, std::make_unique<int>(2));
  EXPECT_FALSE(pool.take(15).has_value());
  EXPECT_EQ(**pool.take(20), 2);
  EXPECT_FALSE(pool.take(20).has_value()) << "it was given away";
  EXPECT_EQ(**pool.take(10), 1);
}

TEST(IdlePool, DropsWhatIsTooMuch) {
  IdlePool<std::shared_ptr<int>> pool(30);
  const auto thing = std::make_shared<int>(1);
  pool.put(20, thing);
  pool.put(11, thing);
  EXPECT_FALSE(pool.take(11).has_value());
  pool.put(10, thing);
  EXPECT_TRUE(pool.take(20).has_value());
  pool.put(20, thing);
  EXPECT_TRUE(pool.take(20).has_value()) << "there is room again";
}

}  // namespace
}  // namespace gpufilter
