// --max-bytes: the file has at most so many bytes, and no higher quality would have.
#include "codec/codec_table.hpp"
#include "support/coding.hpp"

namespace gpufilter::test {
namespace {

std::vector<const Codec*> codecs_with_limits() {
  return codecs_with(max_bytes_option());
}

class LimitedWriter : public ::testing::TestWithParam<const Codec*> {
 protected:
  // A gradient with noise: its size depends on the quality.
  const Image image_ = [] {
    Image image = random_image({97, 61}, {3, 8}, 3);
    for (int y = 0; y < image.size().height; ++y) {
      for (int x = 0; x < 3 * image.width(); ++x) {
        auto& sample = image.rows().row(y)[x];
        sample = static_cast<std::uint8_t>(x / 3 + y + sample / 8);
      }
    }
    return image;
  }();

  [[nodiscard]] Bytes file_with(const WriteOptions& options, int band_rows = 1000) const {
    return encode(*GetParam(), image_, options, {}, band_rows).file;
  }
  [[nodiscard]] Bytes file_of_quality(int quality) const {
    return file_with(WriteOptions().set(quality_option(), std::to_string(quality)));
  }
  [[nodiscard]] std::string refusal(const WriteOptions& options) const {
    try {
      static_cast<void>(file_with(options));
    } catch (const PictureError& error) {
      return error.what();
    }
    return "";
  }
  static WriteOptions limited(std::size_t bytes) {
    return WriteOptions().set(max_bytes_option(), std::to_string(bytes));
  }
};

TEST_P(LimitedWriter, HasTheHighestQualityThatFits) {
  const std::size_t smallest = file_of_quality(1).size();
  const std::size_t usual = file_with({}).size();
  for (const std::size_t bytes : {smallest, smallest + 150, (smallest + usual) / 2, usual - 1}) {
    const Bytes file = file_with(limited(bytes));
    ASSERT_LE(file.size(), bytes);
    int quality = 100;
    while (file_of_quality(quality) != file)
      ASSERT_GT(--quality, 0) << "not a file of any quality";
    // A higher quality may make a smaller file of these two.
    const bool may_be_smaller = GetParam()->name == "HEIC" || GetParam()->name == "AVIF";
    EXPECT_TRUE(may_be_smaller || file_of_quality(quality + 1).size() > bytes) << quality;
    EXPECT_EQ(file_with(limited(bytes), 7), file);
  }
}

TEST_P(LimitedWriter, ChangesNothingOfAFileThatFits) {
  EXPECT_EQ(file_with(limited(file_with({}).size())), file_with({}));
  EXPECT_EQ(file_with(limited(100'000).set(quality_option(), "30")), file_of_quality(30));
}

TEST_P(LimitedWriter, LowersAGivenQuality) {
  const Bytes file = file_with(limited(file_of_quality(20).size()).set(quality_option(), "60"));
  EXPECT_LE(file.size(), file_of_quality(20).size());
}

TEST_P(LimitedWriter, FailsIfNoQualityIsLowEnough) {
  const std::size_t smallest = file_of_quality(1).size();
  for (const std::size_t bytes : {std::size_t{1}, smallest - 1}) {
    EXPECT_TRUE(
        contains(refusal(limited(bytes)),
                 formatted("{} bytes at quality 1, more than --max-bytes {};", smallest, bytes)));
  }
}

TEST_P(LimitedWriter, FailsIfNoQualityMayBeLowered) {
  if (GetParam()->name == "JPEG") GTEST_SKIP() << "skipped: only a JPEG's own coefficients stay";
  EXPECT_TRUE(
      contains(refusal(limited(1000).set(lossless_option(), "always")), "leave out --lossless"));
}

INSTANTIATE_TEST_SUITE_P(All, LimitedWriter, ::testing::ValuesIn(codecs_with_limits()),
                         [](const auto& info) {
                           std::string name = info.param->name;
                           std::erase(name, ' ');
                           return name;
                         });

TEST(MaxBytes, IsANumberOfBytes) {
  EXPECT_EQ(parse_value(max_bytes_option(), "200K"), OptionValue(200 * 1024));
  EXPECT_EQ(parse_value(max_bytes_option(), "1"), OptionValue(1));
  for (const char* text : {"", "0", "-1", "K", "2G", "1.5M", "99999999999999999999"})
    EXPECT_THROW(static_cast<void>(parse_value(max_bytes_option(), text)), UsageError) << text;
}

}  // namespace
}  // namespace gpufilter::test
