#include <array>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "base/error.hpp"
#include "codec/codec_table.hpp"

namespace gpufilter {
namespace {

using namespace std::string_literals;

std::string format_of(const std::string& head) {
  return other_format_of_content({reinterpret_cast<const std::uint8_t*>(head.data()), head.size()});
}

TEST(OtherFormats, AreKnownByTheirEndings) {
  for (const auto& [name, format] :
       std::vector<std::pair<std::string, std::string>>{{"sub.png/a.GIF", "GIF"},
                                                        {"a.b.gif", "GIF"},
                                                        {"a.bmp", "BMP"},
                                                        {"a.jp2", "JPEG 2000"},
                                                        {"a.psd", "PSD"},
                                                        {"IMG_1.CR2", "camera RAW"},
                                                        {"a.NEF", "camera RAW"},
                                                        {"a.arw", "camera RAW"},
                                                        {"a.dng", "camera RAW"},
                                                        {"a.jif", "JPEG not named .jpg"},
                                                        {"a.svg", "SVG"},
                                                        {"a.png", ""},
                                                        {"a.JPG", ""},
                                                        {"gif", ""},
                                                        {"a.gif.xmp", ""},
                                                        {"a.gif/note.txt", ""},
                                                        {"", ""}}) {
    EXPECT_EQ(other_format_of_name(name), format) << name;
  }
}

// The first bytes of files that other programs wrote, and of the formats' specifications.
TEST(OtherFormats, AreKnownByTheirFirstBytes) {
  for (const auto& [head, format] : std::vector<std::pair<std::string, std::string>>{
           {"\x00\x00\x00\x18\x66\x74\x79\x70\x63\x72\x78\x20\x00\x00\x00\x01"s, "camera RAW"},
           {"FUJIFILMCCD-RAW "s, "camera RAW"},
           {"RIFF\x24\x10\x00\x00WAVEfmt "s, ""},
           {"GIF89a\x01\x00\x01\x00"s, "GIF"},
           {"BM\x36\x04\x01\x00\x00\x00\x00\x00\x36\x04\x00\x00\x28\x00"s, "BMP"},
           {"BMW of 1972, red"s, ""},
           {"\x00\x00\x00\x0cjP  \x0d\x0a\x87\x0a"s, "JPEG 2000"},
           {"8BPS\x00\x01"s, "PSD"},
           {"P6\n640 480\n255\n"s, "PPM not named .ppm"},
           {"P4 640 480\n"s, "PNM not named .pnm"},
           {"Pf\n640 480\n-1.0\n"s, "PFM"},
           {"\x89PNG\x0d\x0a\x1a\x0a"s, "PNG not named .png"},
           {"\xff\xd8\xff\xe1"s, "JPEG not named .jpg"},
           {"\x00\x00\x00\x20\x66\x74\x79\x70isom"s, ""},
           {"%PDF-1.7"s, ""},
           {"II*"s, ""},
           {""s, ""}}) {
    EXPECT_EQ(format_of(head), format) << head;
  }
}

// The names of formats that the program can be built without, of a file, of its first bytes, and of
// the package that is then missing.
TEST(OtherFormats, AreThoseThatTheProgramWasBuiltWithout) {
  for (const auto& [format, file, head, package] : std::vector<std::array<std::string, 4>>{
           {"TIFF", "a.TIF", "II*\0"s, "libtiff-dev"},
           {"TIFF", "a.tiff", "MM\0+"s, "libtiff-dev"},
           {"WebP", "a.webp", "RIFF1234WEBP", "libwebp-dev"},
           {"JPEG XL", "a.jxl", "\xff\x0a\xfa\x1f"s, "libjxl-dev"},
           {"HEIC", "a.HEIC",
            "\0\0\0\x18"
            "ftypheic\0\0\0\0"s,
            "libheif-dev"},
           {"HEIC", "a.heif",
            "\0\0\0\x24"
            "ftypmif1\0\0\0\0"s,
            "libheif-dev"},
           {"AVIF", "a.avif",
            "\0\0\0\x20"
            "ftypavif\0\0\0\0"s,
            "libheif-dev"}}) {
    const Codec* codec = codec_of_name(file);
    EXPECT_EQ(other_format_of_name(file), codec == nullptr ? format : "");
    const std::string missing = missing_format(format);
    if (codec != nullptr) {
      EXPECT_EQ(missing, "");
      EXPECT_EQ(codec->name, format);
      continue;
    }
    EXPECT_EQ(missing, "this gpufilter was built without " + format + ": install " + package +
                           " and build it again");
    EXPECT_EQ(no_picture({reinterpret_cast<const std::uint8_t*>(head.data()), head.size()}),
              missing);
    try {
      static_cast<void>(codec_for_output(file));
      ADD_FAILURE() << "no exception";
    } catch (const UsageError& error) {
      EXPECT_EQ(error.what(), file + ": " + missing);
    }
  }
}

TEST(OtherFormats, ExplainWhyAFileIsNotRead) {
  const auto why = [](const std::string& head) {
    return no_picture({reinterpret_cast<const std::uint8_t*>(head.data()), head.size()});
  };
  EXPECT_EQ(why("GIF89a"), "GIF is not supported");
  EXPECT_EQ(why("text"), "not a " + names_of(codecs()) + " picture");
}

}  // namespace
}  // namespace gpufilter
