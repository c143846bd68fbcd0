#include <thread>

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "base/error.hpp"
#include "codec/byte_source.hpp"
#include "support/pictures.hpp"
#include "support/temporary_folder.hpp"

namespace gpufilter {
namespace {

std::string all_of(ByteSource& source) {
  std::string text(3'000'000, '?');
  const std::size_t size = source.read({reinterpret_cast<std::uint8_t*>(text.data()), text.size()});
  return text.substr(0, size);
}

std::string long_text() {
  std::string text = "P5 1 1 255\n";  // a picture, as far as its beginning says
  for (int i = 0; text.size() < 2'500'000; ++i)
    text += std::to_string(i) + ";";
  return text;
}

TEST(RepeatableSource, ReadsAFileAgainAndAgain) {
  const test::TemporaryFolder folder;
  const std::string text = long_text();
  test::write_file(folder / "file", text);
  const RepeatableSource input(folder / "file", true);
  EXPECT_EQ(all_of(*input.open()), text);
  EXPECT_EQ(all_of(*input.open()), text);
}

TEST(RepeatableSource, ReadsAPipeAgainAndAgain) {
  const test::TemporaryFolder folder;
  const std::string text = long_text();
  ASSERT_EQ(::mkfifo((folder / "pipe").c_str(), 0600), 0);
  std::thread writer([&] { test::write_file(folder / "pipe", text); });
  const RepeatableSource input(folder / "pipe", true);
  writer.join();
  for (int i = 0; i < 2; ++i) {
    const auto source = input.open();
    EXPECT_EQ(all_of(*source), text);
    EXPECT_EQ(source->name(), folder / "pipe");
  }
}

TEST(RepeatableSource, CopiesNothingButPictures) {
  for (const auto& [path, reason] :
       {std::pair("/dev/zero", ": not a "), std::pair("/dev/null", ": the file is empty")}) {
    try {
      const RepeatableSource input(path, true);
      ADD_FAILURE() << path;
    } catch (const PictureError& error) {
      EXPECT_TRUE(std::string(error.what()).starts_with(std::string(path) + reason))
          << error.what();
    }
  }
}

TEST(RepeatableSource, SaysWhatIsMissing) {
  const test::TemporaryFolder folder;
  const RepeatableSource input(folder / "missing", true);
  EXPECT_THROW(static_cast<void>(input.open()), PictureError);
}

}  // namespace
}  // namespace gpufilter
