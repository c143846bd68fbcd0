#include <array>
#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "base/error.hpp"
#include "batch/file_content.hpp"
#include "support/objection.hpp"
#include "support/pictures.hpp"
#include "support/temporary_folder.hpp"

namespace gpufilter {
namespace {

namespace fs = std::filesystem;

class HashedInputs : public ::testing::Test {
 protected:
  // Longer than the sources' buffers, and not a multiple of them.
  void SetUp() override {
    for (int i = 0; i < 700'001; ++i)
      bytes_.push_back(static_cast<char>(i * i >> 7));
    test::write_file(path_, bytes_);
  }

  [[nodiscard]] ContentHash expected() const { return content_hash(bytes_); }

  template <typename Action>
  [[nodiscard]] static std::string message_of(const Action& action) {
    return test::objection_to<PictureError>([&] { action(); }, "no error");
  }

  test::TemporaryFolder folder_;
  std::string path_ = folder_ / "picture";
  std::string bytes_;
};

TEST_F(HashedInputs, HaveTheHashOfTheWholeFileHoweverMuchWasRead) {
  for (const std::size_t part : {0, 1, 100'000, 262'144, 700'000, 700'001, 900'000}) {
    HashedInput input(path_);
    const auto source = input.open();
    EXPECT_EQ(source->name(), path_);
    static_cast<void>(source->peek(64));
    std::vector<std::uint8_t> buffer(part);
    const std::size_t count = source->read(buffer);
    EXPECT_EQ(count, std::min<std::size_t>(part, bytes_.size()));
    EXPECT_EQ(std::string(buffer.begin(), buffer.begin() + static_cast<std::ptrdiff_t>(count)),
              bytes_.substr(0, count));
    static_cast<void>(source->peek(64));
    EXPECT_EQ(input.content().hash, expected()) << part;
  }
}

TEST_F(HashedInputs, MayBeReadInManyPieces) {
  HashedInput input(path_);
  auto source = input.open();
  std::array<std::uint8_t, 997> buffer{};
  while (source->read(buffer) == buffer.size())
    static_cast<void>(source->peek(1));
  source.reset();  // as a decoder does that has everything
  EXPECT_EQ(input.content().hash, expected());
}

TEST_F(HashedInputs, CountOnceIfTheyAreOpenedTwice) {
  HashedInput input(path_);
  std::array<std::uint8_t, 1000> buffer{};
  static_cast<void>(input.open()->read(buffer));
  static_cast<void>(input.open()->read(buffer));
  EXPECT_EQ(input.content().hash, expected());
}

TEST_F(HashedInputs, HaveTheStampFromBefore) {
  HashedInput input(path_);
  static_cast<void>(input.open());
  const FileContent content = input.content();
  EXPECT_EQ(content.stamp, stamp_of(path_));
  EXPECT_FALSE(content.settled) << "the file was written just now";
}

TEST_F(HashedInputs, AreRefusedIfTheyChangeMeanwhile) {
  const std::string changed = path_ + ": it changed while it was being read";
  {
    HashedInput input(path_);
    static_cast<void>(input.open());
    test::write_file(path_, bytes_ + "x");
    EXPECT_EQ(message_of([&] { static_cast<void>(input.content()); }), changed);
  }
  {
    HashedInput input(path_);
    static_cast<void>(input.open());
    fs::last_write_time(path_, fs::last_write_time(path_) - std::chrono::hours(1));
    EXPECT_EQ(message_of([&] { static_cast<void>(input.content()); }), changed);
  }
  {
    HashedInput input(path_);
    static_cast<void>(input.open());
    test::write_file(path_ + "2", bytes_);
    fs::rename(path_ + "2", path_);  // another file, if with the same bytes
    EXPECT_EQ(message_of([&] { static_cast<void>(input.content()); }), changed);
  }
}

TEST_F(HashedInputs, MayBeDeletedMeanwhile) {
  HashedInput input(path_);
  static_cast<void>(input.open());
  fs::remove(path_);
  EXPECT_EQ(input.content().hash, expected());
}

TEST_F(HashedInputs, AreRegularFiles) {
  const auto open = [](const std::string& path) { static_cast<void>(HashedInput(path)); };
  EXPECT_EQ(message_of([&] { open(folder_ / "missing"); }),
            (folder_ / "missing") + ": no such file");
  EXPECT_EQ(message_of([&] { open(folder_.path()); }),
            folder_.path().string() + ": is no longer a regular file");
  ASSERT_EQ(::mkfifo((folder_ / "pipe").c_str(), 0600), 0);  // would block if it were opened
  EXPECT_EQ(message_of([&] { open(folder_ / "pipe"); }),
            (folder_ / "pipe") + ": is no longer a regular file");
}

}  // namespace
}  // namespace gpufilter
