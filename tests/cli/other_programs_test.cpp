// Pictures exchanged with the programs of Netpbm, libtiff, libwebp, libjxl and libheif, and with
// Pillow.
#include <filesystem>
#include <string>
#include <vector>

#include "cli/program_fixture.hpp"
#include "codec/codec_table.hpp"
#include "image/exif_orientation.hpp"
#include "image/sample_arithmetic.hpp"
#include "support/coding.hpp"
#include "support/pictures.hpp"

namespace gpufilter::test {
namespace {

// A command for sh that makes the file $2 of the file $1.
struct Exchange {
  std::string extension;  // of our file
  std::string other;      // of the other program's
  std::string program;    // has to be there
  std::string command;
  std::vector<PixelFormat> formats;
};

const std::vector<PixelFormat> opaque{{1, 8}, {3, 8}, {1, 16}, {3, 16}};
const std::vector<PixelFormat> all{{1, 8},  {2, 8},  {3, 8},  {4, 8},
                                   {1, 16}, {2, 16}, {3, 16}, {4, 16}};
const std::string pillow =
    "/usr/bin/python3 -c 'import sys; from PIL import Image; "
    "Image.open(sys.argv[1]).save(sys.argv[2])' \"$1\" \"$2\"";

class OtherPrograms : public ProgramTest {
 protected:
  static bool succeeds(const std::string& script, const std::string& from = "",
                       const std::string& to = "") {
    return run_process({"sh", "-c", script, "sh", from, to}).exit_code == 0;
  }

  static bool is_there(const Exchange& exchange) {
    return codec_of_name("a." + exchange.extension) != nullptr &&
           succeeds(exchange.program.starts_with("import")
                        ? "/usr/bin/python3 -c '" + exchange.program + "'"
                        : "command -v " + exchange.program);
  }

  // Ours, from a PNG or into one.
  static void copy(const std::string& from, const std::string& to) {
    std::vector<std::string> words{from, to, "--device", "cpu", "--on-exists", "overwrite"};
    if (to.ends_with(".webp") || to.ends_with(".jxl") || to.ends_with(".avif") ||
        to.ends_with(".heic")) {
      words.emplace_back("--lossless");
    }
    filter_quietly(words);
  }

  // Calls `exchange_one` with each picture that a program on this machine can exchange.
  template <typename Step>
  void for_each(const std::vector<Exchange>& exchanges, Step exchange_one) {
    int count = 0;
    for (const Exchange& exchange : exchanges) {
      if (!is_there(exchange)) continue;
      for (const PixelFormat& format : exchange.formats) {
        SCOPED_TRACE(exchange.command + ", " + to_string(format));
        exchange_one(exchange, random_image({37, 23}, format, 9));
        ++count;
      }
    }
    if (count == 0) GTEST_SKIP() << "skipped: none of the programs is installed";
  }
};

TEST_F(OtherPrograms, ReadWhatWeWrite) {
  const std::vector<Exchange> exchanges{
      {"ppm", "png", "pnmtopng", "pnmtopng \"$1\" > \"$2\"", {{3, 8}, {3, 16}}},
      {"pgm", "png", "pnmtopng", "pnmtopng \"$1\" > \"$2\"", {{1, 8}, {1, 16}}},
      {"pam", "png", "pamtopng", "pamtopng \"$1\" > \"$2\"", all},
      {"tif", "tif", "tiffcp", "tiffcp -c none \"$1\" \"$2\"", all},
      // Without -byrow, tifftopnm reduces samples to 8 bits.
      {"tif", "pnm", "tifftopnm", "tifftopnm -byrow \"$1\" > \"$2\"", opaque},
      {"tif", "png", "import PIL", pillow, {{1, 8}, {3, 8}, {4, 8}}},
      {"webp", "pam", "dwebp", "dwebp -pam \"$1\" -o \"$2\"", {{4, 8}}},
      {"webp", "ppm", "dwebp", "dwebp -ppm \"$1\" -o \"$2\"", {{3, 8}}},
      {"webp", "png", "import PIL", pillow, {{3, 8}, {4, 8}}},
      {"jxl", "png", "djxl", "djxl \"$1\" \"$2\"", all},
      {"avif", "png", "heif-convert", "heif-convert \"$1\" \"$2\"", {{3, 8}, {4, 8}}},
      {"avif", "png", "avifdec", "avifdec \"$1\" \"$2\"", {{3, 8}, {4, 8}}},
      {"heic", "png", "heif-convert", "heif-convert \"$1\" \"$2\"", {{3, 8}, {4, 8}}}};
  for_each(exchanges, [this](const Exchange& exchange, const Image& image) {
    const std::string ours = folder_ / ("ours." + exchange.extension);
    const std::string theirs = folder_ / ("theirs." + exchange.other);
    copy(stored(image, "in.png"), ours);
    ASSERT_TRUE(succeeds(exchange.command, ours, theirs));
    const std::string result = folder_ / "result.png";
    copy(theirs, result);
    EXPECT_TRUE(same_pixels(read_picture(result), image));
  });
}

// They turn it themselves.
TEST_F(OtherPrograms, SeeTheStoredSizeOfATurnedPicture) {
  const Codec* avif = codec_of_name("a.avif");
  if (avif == nullptr || !succeeds("command -v avifdec"))
    GTEST_SKIP() << "skipped: AVIF or avifdec is missing";
  Metadata metadata;
  set_orientation(metadata, 6);
  const Bytes file = encode(*avif, random_image({24, 16}, {3, 8}, 1), {}, metadata).file;
  write_file(folder_ / "turned.avif", {file.begin(), file.end()});
  ASSERT_TRUE(
      succeeds("avifdec --info \"$1\" > \"$2\"", folder_ / "turned.avif", folder_ / "info.txt"));
  const std::string info = read_file(folder_ / "info.txt");
  expect_parts(info, {"Resolution     : 24x16", "irot (Rotation)      : 3"});
}

TEST_F(OtherPrograms, WriteWhatWeRead) {
  const std::vector<Exchange> exchanges{
      {"pam", "pam", "pngtopam", "pngtopam -alphapam \"$1\" > \"$2\"", {{4, 8}, {4, 16}}},
      {"ppm", "ppm", "pngtopam", "pngtopam \"$1\" > \"$2\"", {{3, 8}, {3, 16}}},
      {"ppm", "ppm", "pngtopam", "pngtopam \"$1\" | pnmtoplainpnm > \"$2\"", {{3, 8}, {3, 16}}},
      {"tif", "tif", "pnmtotiff", "pngtopam \"$1\" | pnmtotiff -lzw > \"$2\"", {{1, 8}, {3, 8}}},
      {"tif", "tif", "import PIL", pillow, {{1, 8}, {2, 8}, {3, 8}, {4, 8}}},
      {"webp", "webp", "cwebp", "cwebp -lossless -exact \"$1\" -o \"$2\"", {{3, 8}, {4, 8}}},
      // Before 0.8, cjxl reduces alpha to 8 bits.
      {"jxl",
       "jxl",
       "cjxl",
       "cjxl -d 0 -e 3 \"$1\" \"$2\"",
       {{1, 8}, {2, 8}, {3, 8}, {4, 8}, {1, 16}, {3, 16}}},
      {"avif", "avif", "heif-enc", "heif-enc -A -L \"$1\" -o \"$2\"", {{1, 8}}},
      {"heic", "heic", "heif-enc", "heif-enc -L \"$1\" -o \"$2\"", {{1, 8}}}};
  for_each(exchanges, [this](const Exchange& exchange, const Image& image) {
    const std::string theirs = folder_ / ("theirs." + exchange.other);
    ASSERT_TRUE(succeeds(exchange.command, stored(image, "in.png"), theirs));
    const std::string result = folder_ / "result.png";
    copy(theirs, result);
    EXPECT_TRUE(same_pixels(read_picture(result), image));
  });
}

// Versions of heif-enc before 1.16 cannot write colours without loss.
TEST_F(OtherPrograms, DecodeHeicAndAvifToTheSameSamples) {
  const std::vector<PixelFormat> formats{{1, 8}, {3, 8}, {4, 8}};
  const std::vector<Exchange> exchanges{
      {"avif", "avif", "heif-enc", "heif-enc -A \"$1\" -o \"$2\"", formats},
      {"avif", "avif", "heif-enc", "heif-enc -A -b 12 \"$1\" -o \"$2\"", {{3, 16}, {4, 16}}},
      {"heic", "heic", "heif-enc", "heif-enc \"$1\" -o \"$2\"", formats},
      {"heic", "heic", "heif-enc", "heif-enc -b 10 \"$1\" -o \"$2\"", {{3, 16}, {4, 16}}}};
  for_each(exchanges, [this](const Exchange& exchange, const Image& image) {
    const std::string file = folder_ / ("theirs." + exchange.other);
    ASSERT_TRUE(succeeds(exchange.command, stored(image, "in.png"), file));
    const std::string theirs = folder_ / "theirs.png";
    ASSERT_TRUE(succeeds("heif-convert \"$1\" \"$2\"", file, theirs));
    const std::string ours = folder_ / "ours.png";
    copy(file, ours);
    const Image expected = read_picture(theirs);
    const Image result = read_picture(ours);
    ASSERT_EQ(result.size(), expected.size());
    // heif-convert shifts the bits of deep samples to the left.
    const auto bits =
        static_cast<unsigned>(open_picture(open_source(file))->header().file_pixels.depth);
    const std::uint32_t few = (1U << bits) - 1U;
    const std::uint32_t max = image.format().max_sample();
    const unsigned shift = static_cast<unsigned>(image.format().depth) - bits;
    for (const auto [x, y, c] : each_sample(image.size(), image.format().channels))
      ASSERT_EQ(scaled_sample(sample_at(result, x, y, c), max, few),
                sample_at(expected, x, y, c) >> shift)
          << x << "," << y;
  });
}

}  // namespace
}  // namespace gpufilter::test
