// JPEG files with restart markers, and progressive ones, as other programs read them.
#include <cstdlib>
#include <optional>
#include <string>
#include <vector>

#include "cli/filter_fixture.hpp"
#include "support/jpeg.hpp"

namespace gpufilter::test {
namespace {

struct Decoder {
  std::string needs;    // a command that succeeds where the program is installed
  std::string command;  // writes pixels of "$1" to standard output
};

const std::vector<Decoder>& decoders() {
  static const std::string pillow =
      "import sys, warnings; warnings.simplefilter('error'); from PIL import Image; ";
  static const std::vector<Decoder> list{
      {"command -v djpeg", "djpeg -ppm \"$1\""},
      {"command -v ffmpeg",
       "ffmpeg -nostdin -v warning -i \"$1\" -f rawvideo -c:v rawvideo pipe:1"},
      {"command -v vips", R"(vips rawsave "$1" "$1.raw" && cat "$1.raw")"},
      // Another program of that name may not support JPEG.
      {"test -x /usr/bin/convert", "/usr/bin/convert \"$1\" ppm:-"},
      {"test -x /usr/bin/convert-im6.q16", "/usr/bin/convert-im6.q16 \"$1\" ppm:-"},
      {"/usr/bin/python3 -c 'import PIL'",
       "/usr/bin/python3 -c \"" + pillow +
           "sys.stdout.buffer.write(Image.open(sys.argv[1]).tobytes())\" \"$1\""},
      {"/usr/bin/python3 -c 'import cv2'",
       "/usr/bin/python3 -c \"import sys, cv2; "
       "sys.stdout.buffer.write(cv2.imread(sys.argv[1]).tobytes())\" \"$1\""}};
  return list;
}

ProcessResult in_shell(const std::string& command, const std::string& argument = "") {
  return run_process({"/bin/sh", "-c", command, "sh", argument});
}

class JpegDecoders : public FilterTest {
 protected:
  // The decoder's pixels of our file `name`; expects that the decoder prints no complaint.
  std::string decoded(const Decoder& decoder, const std::string& name) {
    const ProcessResult result = in_shell(decoder.command, folder_ / name);
    EXPECT_EQ(result.exit_code, 0) << decoder.command << result.err;
    EXPECT_EQ(result.err, "") << decoder.command;
    EXPECT_FALSE(result.out.empty()) << decoder.command;
    return result.out;
  }
};

std::vector<Decoder> installed_decoders() {
  std::vector<Decoder> installed;
  for (const Decoder& decoder : decoders()) {
    if (in_shell(decoder.needs).exit_code == 0) installed.push_back(decoder);
  }
  return installed;
}

// Decoders interpolate chroma in different ways; each has to give the same pixels for all files.
TEST_F(JpegDecoders, SeeNoDifference) {
  const std::vector<Decoder> installed = installed_decoders();
  if (installed.empty()) GTEST_SKIP() << "skipped: no other decoder of JPEG here";
  for (const int channels : {1, 3}) {
    const Image image = random_image({519, 1019}, {channels, 8}, 1);
    const std::string in = stored(image, "in.png");
    for (const std::string chroma : {"444", "422", "420"}) {
      if (channels == 1 && chroma != "444") continue;
      const auto write = [&](const std::string& name, std::vector<std::string> options) {
        options.insert(options.begin(), {in, folder_ / name, "--quality", "60"});
        if (channels == 3) options.insert(options.end(), {"--subsampling", chroma});
        filter_quietly(options);
      };
      write("strips.jpg", {});
      write("one.jpg", {"--restart", "off"});
      write("progressive.jpg", {"--progressive"});
      EXPECT_NE(read_file(folder_ / "strips.jpg"), read_file(folder_ / "one.jpg"));
      for (const Decoder& decoder : installed) {
        const std::string expected = decoded(decoder, "one.jpg");
        EXPECT_TRUE(decoded(decoder, "strips.jpg") == expected) << decoder.command;
        EXPECT_TRUE(decoded(decoder, "progressive.jpg") == expected) << decoder.command;
      }
      for (const char* name : {"strips.jpg", "one.jpg", "progressive.jpg"})
        std::filesystem::remove(folder_ / name);
    }
  }
}

}  // namespace
}  // namespace gpufilter::test
