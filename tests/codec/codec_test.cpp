// Which format a file is, and which one a name asks for.
#include "codec/codec.hpp"

#include <string>

#include <gtest/gtest.h>

#include "base/error.hpp"

namespace gpufilter {
namespace {

std::optional<FileFormat> sniff(const std::string& head) {
  return sniff_format({reinterpret_cast<const std::uint8_t*>(head.data()), head.size()});
}

TEST(Codec, KnowsFormatsByTheirContent) {
  EXPECT_EQ(sniff("\x89PNG\r\n\x1a\n"), FileFormat::png);
  EXPECT_EQ(sniff("\xff\xd8\xff\xe0"), FileFormat::jpeg);
  EXPECT_EQ(sniff("\x89PNG\n\x1a\n-"), std::nullopt);  // line ends converted on the way
  EXPECT_EQ(sniff("\x89PNG\r\n\x1a"), std::nullopt);
  EXPECT_EQ(sniff("\xff\xd8"), std::nullopt);
  EXPECT_EQ(sniff("GIF89a"), std::nullopt);
  EXPECT_EQ(sniff(""), std::nullopt);
}

TEST(Codec, TakesTheOutputsFormatFromItsName) {
  for (const char* name : {"a.png", "A.PNG", "dir.jpg/b.Png", ".png", "a.jpg.png"}) {
    EXPECT_EQ(format_for_name(name), FileFormat::png) << name;
  }
  for (const char* name : {"a.jpg", "a.JPEG", "/x/y.Jpg"}) {
    EXPECT_EQ(format_for_name(name), FileFormat::jpeg) << name;
  }
}

TEST(Codec, RefusesNamesOfOtherFormatsNamingThePossibleOnes) {
  for (const std::string name :
       {"a", "a.tif", "png", "a.png.bak", "dir.png/a", "-", "", "a.png/"}) {
    try {
      (void)format_for_name(name);
      FAIL() << "no exception for " << name;
    } catch (const UsageError& error) {
      EXPECT_EQ(error.what(), name + ": the name of an output ends in .png, .jpg or .jpeg");
    }
  }
}

TEST(Codec, NamesFormats) {
  EXPECT_STREQ(to_string(FileFormat::png), "PNG");
  EXPECT_STREQ(to_string(FileFormat::jpeg), "JPEG");
}

TEST(Codec, RefusesWhatIsNoPicture) {
  const auto refusal = [](const std::string& content) -> std::string {
    try {
      (void)open_picture(memory_source({content.begin(), content.end()}, "in.gif"));
    } catch (const PictureError& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(refusal(""), "in.gif: the file is empty");
  EXPECT_EQ(refusal("GIF89a..."), "in.gif: neither a PNG nor a JPEG picture");
}

}  // namespace
}  // namespace gpufilter
