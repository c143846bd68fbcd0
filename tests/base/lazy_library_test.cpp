#include "base/lazy_library.hpp"

#include <string>

#include <gtest/gtest.h>
#include <zlib.h>

#include "support/objection.hpp"

namespace gpufilter {
namespace {

struct Zlib : LazyLibrary {
  using LazyLibrary::LazyLibrary;
  GPUFILTER_LIBRARY_FUNCTIONS(crc32)
};

struct FutureZlib : LazyLibrary {
  using LazyLibrary::LazyLibrary;
  decltype(&::crc32) crc32 = function<decltype(&::crc32)>("crc32_of_tomorrow");
};

template <typename Library>
std::string failure_of(const char* name) {
  return test::objection_to<LibraryNotLoaded>([&] { const Library library(name); });
}

TEST(LazyLibrary, HasTheFunctionsOfTheLibrary) {
  const Zlib library("libz.so.1");
  const auto* text = reinterpret_cast<const Bytef*>("123456789");
  EXPECT_EQ(library.crc32(0, text, 9), 0xcbf43926U);  // the check value of CRC-32
}

TEST(LazyLibrary, NamesALibraryThatIsMissing) {
  const std::string failure = failure_of<Zlib>("libnone.so.7");
  EXPECT_TRUE(failure.starts_with("cannot be loaded: libnone.so.7: ")) << failure;
}

TEST(LazyLibrary, NamesAFunctionThatIsMissing) {
  EXPECT_EQ(failure_of<FutureZlib>("libz.so.1"),
            "another version of libz.so.1 is needed: it has no crc32_of_tomorrow()");
}

}  // namespace
}  // namespace gpufilter
