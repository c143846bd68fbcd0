// Pictures and stages compared with other programs.

#include "cli/program_fixture.hpp"
#include "image/exif.hpp"
#include "image/sample_arithmetic.hpp"
#include "support/coding.hpp"
#include "support/jpeg.hpp"

#ifdef GPUFILTER_HAS_OPENCV
#include <opencv2/core.hpp>
#include <opencv2/imgproc.hpp>
#endif

namespace gpufilter::test {
namespace {

// Pictures exchanged with the programs of Netpbm, libtiff, libwebp, libjxl and libheif, and with
// Pillow.

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

struct OtherPrograms : ProgramTest {
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
    Words words{from, to, "--device", "cpu", "--on-exists", "overwrite"};
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

// Other programs turn the picture themselves.
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

// JPEG files with restart markers, and progressive ones, as other programs read them.

struct Decoder {
  std::string needs;    // a command that succeeds where the program is installed
  std::string command;  // writes pixels of "$1" to standard output
};

const std::vector<Decoder>& decoders() {
  static const std::vector<Decoder> list{
      {"command -v djpeg", "djpeg -ppm \"$1\""},
      {"command -v ffmpeg",
       "ffmpeg -nostdin -v warning -i \"$1\" -f rawvideo -c:v rawvideo pipe:1"},
      {"command -v vips", R"(vips rawsave "$1" "$1.raw" && cat "$1.raw")"},
      // Another program of that name may not support JPEG.
      {"test -x /usr/bin/convert", "/usr/bin/convert \"$1\" ppm:-"},
      {"test -x /usr/bin/convert-im6.q16", "/usr/bin/convert-im6.q16 \"$1\" ppm:-"}};
  return list;
}

ProcessResult in_shell(const std::string& command, const std::string& argument = "") {
  return run_process({"/bin/sh", "-c", command, "sh", argument});
}

struct JpegDecoders : ProgramTest {
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
    const std::string in = stored(random_image({519, 1019}, {channels, 8}, 1), "in.png");
    for (const std::string chroma : {"444", "422", "420"}) {
      if (channels == 1 && chroma != "444") continue;
      const auto write = [&](const std::string& name, Words options) {
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
        fs::remove(folder_ / name);
    }
  }
}

// Stages against OpenCV's functions, which are independent implementations.

using OpenCvComparison = ProgramTest;

#ifdef GPUFILTER_HAS_OPENCV

// A view of the image's pixels, read-only by convention.
cv::Mat as_mat(const Image& image) {
  const int type = CV_MAKETYPE(image.format().depth == 8 ? CV_8U : CV_16U, image.format().channels);
  auto* data = const_cast<std::uint8_t*>(image.rows().data);
  return {image.size().height, image.width(), type, data, image.pitch()};
}

Image box_filter(const Image& image, int border) {
  Image result = poisoned_image(image.size(), image.format());
  cv::Mat target = as_mat(result);
  cv::boxFilter(as_mat(image), target, -1, cv::Size(3, 3), cv::Point(-1, -1), true, border);
  EXPECT_EQ(target.data, result.rows().data) << "OpenCV put its result elsewhere";
  return result;
}

TEST_F(OpenCvComparison, RandomPictures) {
  for (const auto& [channels, size] :
       {std::pair{1, ImageSize{129, 67}}, {3, {17, 31}}, {3, {2, 3}}, {4, {129, 67}}}) {
    const Image image = random_image(size, {channels, 8}, 1);
    const std::string in = stored(image, "in.png");
    for (const auto& [name, border] :
         {std::pair{"replicate", cv::BORDER_REPLICATE}, {"mirror", cv::BORDER_REFLECT_101}}) {
      const Image expected = box_filter(image, border);
      for (const auto& [device, variant] :
           each_of(std::array{"opencl", "cpu"}, std::array{"naive", "tiled"})) {
        filter_quietly({in, out_, "--blur", variant, "--border", name, "--alpha", "independent",
                        "--device", device});
        EXPECT_TRUE(same_pixels(read_picture(out_), expected))
            << name << " " << device << " " << variant;
      }
    }
  }
}

TEST_F(OpenCvComparison, RandomPicturesOfSixteenBits) {
  const Image image = random_image({67, 45}, {3, 16}, 2);
  filter_quietly({stored(image, "in.png"), out_, "--blur", "tiled"});
  EXPECT_TRUE(same_pixels(read_picture(out_), box_filter(image, cv::BORDER_REPLICATE)));
}

TEST_F(OpenCvComparison, Equalized) {
  for (const ImageSize size : {ImageSize{129, 67}, {1, 1}, {301, 200}}) {
    const Image image = random_image(size, {1, 8}, 4);
    filter_quietly({stored(image, "in.png"), out_, "--gamma", "0.4", "--equalize"});
    Image expected = filter_on_host(image, {stage_of("--gamma 0.4")}, {});
    cv::equalizeHist(as_mat(expected), as_mat(expected));
    EXPECT_TRUE(same_pixels(read_picture(out_), expected)) << size.width;
  }
}

TEST_F(OpenCvComparison, ContrastOfTiles) {
  struct Case {
    const char* value;
    double limit;
    int tiles;
  };
  for (const auto& [value, limit, tiles] :
       {Case{"2", 2, 8}, Case{"40,3", 40, 3}, Case{"0.5,16", 0.5, 16}}) {
    for (const ImageSize size : {ImageSize{129, 67}, {128, 64}, {96, 67}, {1, 5}, {301, 208}}) {
      for (const int depth : {8, 16}) {
        const Image image = random_image(size, {1, depth}, 4);
        filter_quietly({stored(image, "in.png"), out_, "--gamma", "0.4", "--clahe", value});
        Image expected = filter_on_host(image, {stage_of("--gamma 0.4")}, {});
        cv::createCLAHE(limit, {tiles, tiles})->apply(as_mat(expected), as_mat(expected));
        EXPECT_TRUE(same_pixels(read_picture(out_), expected))
            << value << ' ' << size.width << ' ' << depth;
      }
    }
  }
}

// The luma of colours changes as OpenCV changes a grey picture.
TEST_F(OpenCvComparison, ContrastOfTilesInColor) {
  const Image image = random_image({131, 67}, {4, 8}, 5);
  const Image grey = filter_on_host(image, stages_of("--channel luma"), {});
  Image changed = copy_of(grey);
  cv::createCLAHE(3, {8, 8})->apply(as_mat(grey), as_mat(changed));
  Image expected = copy_of(image);
  for (const auto [x, y, c] : each_sample({131, 67}, 3)) {
    const int sample = static_cast<int>(sample_at(image, x, y, c)) +
                       static_cast<int>(sample_at(changed, x, y, 0)) -
                       static_cast<int>(sample_at(grey, x, y, 0));
    set_sample(expected, x, y, c, static_cast<std::uint32_t>(std::clamp(sample, 0, 255)));
  }
  filter_quietly({stored(image, "in.png"), out_, "--clahe", "3"});
  EXPECT_TRUE(same_pixels(read_picture(out_), expected));
}

TEST_F(OpenCvComparison, ThresholdsOfOtsu) {
  for (const int depth : {8, 16}) {
    Image image = random_image({131, 67}, {1, depth}, 5);
    const std::uint32_t max = image.format().max_sample();
    // Two unequal groups of tones.
    for (const auto [x, y] : each_pixel(image))
      set_sample(image, x, y, 0, sample_at(image, x, y, 0) / 4 + (x % 3 == 0 ? max / 2 : 0));
    filter_quietly({stored(image, "in.png"), out_, "--binarize", "otsu"});
    Image expected = copy_of(image);
    cv::threshold(as_mat(image), as_mat(expected), 0, max, cv::THRESH_BINARY | cv::THRESH_OTSU);
    EXPECT_TRUE(same_pixels(read_picture(out_), expected)) << depth;
  }
}

// filter2D does not round while sums are whole and not divided.
TEST_F(OpenCvComparison, Convolutions) {
  struct Case {
    std::string text;
    cv::Mat matrix;
  };
  const std::vector<Case> cases{
      {"0 -1 0; -1 5 -1; 0 -1 0", (cv::Mat_<float>(3, 3) << 0, -1, 0, -1, 5, -1, 0, -1, 0)},
      {"-1 0 1; -2 0 2; -1 0 1", (cv::Mat_<float>(3, 3) << -1, 0, 1, -2, 0, 2, -1, 0, 1)},
      {"1 -2 3 -4 3", (cv::Mat_<float>(1, 5) << 1, -2, 3, -4, 3)}};
  for (const PixelFormat format : {PixelFormat{3, 8}, PixelFormat{1, 16}}) {
    const Image image = random_image({61, 33}, format, 3);
    const std::string in = stored(image, "in.png");
    for (const Case& each : cases) {
      for (const auto& [name, border] :
           {std::pair{"replicate", cv::BORDER_REPLICATE}, {"mirror", cv::BORDER_REFLECT_101}}) {
        Image expected = poisoned_image(image.size(), format);
        cv::Mat target = as_mat(expected);
        cv::filter2D(as_mat(image), target, -1, each.matrix, cv::Point(-1, -1), 7, border);
        filter_quietly(
            {in, out_, "--convolve", each.text, "--scale", "1", "--offset", "7", "--border", name});
        EXPECT_TRUE(same_pixels(read_picture(out_), expected)) << each.text << " " << name;
      }
    }
  }
}

// OpenCV takes windows of 16-bit samples up to 5x5, and replicates the border.
TEST_F(OpenCvComparison, Medians) {
  for (const PixelFormat format :
       {PixelFormat{1, 8}, PixelFormat{3, 8}, PixelFormat{4, 8}, PixelFormat{3, 16}}) {
    const Image image = random_image({131, 77}, format, 4);
    const std::string in = stored(image, "in.png");
    for (const int radius : {1, 2, 3, 5, 7, 8, 20, 31}) {
      if (format.depth == 16 && radius > 2) break;
      Image expected = poisoned_image(image.size(), format);
      cv::Mat target = as_mat(expected);
      cv::medianBlur(as_mat(image), target, 2 * radius + 1);
      filter_quietly({in, out_, "--median", std::to_string(radius), "--alpha", "independent"});
      EXPECT_TRUE(same_pixels(read_picture(out_), expected)) << radius << to_string(format);
    }
  }
}

TEST_F(OpenCvComparison, MorphologyOfSquares) {
  const std::array operations{
      std::pair{"--dilate", cv::MORPH_DILATE}, std::pair{"--erode", cv::MORPH_ERODE},
      std::pair{"--open", cv::MORPH_OPEN}, std::pair{"--close", cv::MORPH_CLOSE}};
  for (const PixelFormat format : {PixelFormat{1, 8}, PixelFormat{3, 8}, PixelFormat{3, 16}}) {
    const Image image = random_image({131, 77}, format, 5);
    const std::string in = stored(image, "in.png");
    for (const int radius : {1, 4, 60}) {
      const int side = 2 * radius + 1;
      const cv::Mat square = cv::getStructuringElement(cv::MORPH_RECT, {side, side});
      for (const auto& [option, operation] : operations) {
        Image expected = poisoned_image(image.size(), format);
        cv::Mat target = as_mat(expected);
        cv::morphologyEx(as_mat(image), target, operation, square);
        filter_quietly({in, out_, option, std::to_string(radius)});
        EXPECT_TRUE(same_pixels(read_picture(out_), expected)) << option << " " << radius;
      }
    }
  }
}

// OpenCV's derivatives, with the rounding of --edges.
TEST_F(OpenCvComparison, Edges) {
  for (const PixelFormat format : {PixelFormat{1, 8}, PixelFormat{3, 8}, PixelFormat{3, 16}}) {
    const Image image = random_image({131, 77}, format, 6);
    const std::string in = stored(image, "in.png");
    for (const char* by : {"sobel", "scharr", "laplacian"}) {
      cv::Mat dx;
      cv::Mat dy;
      const int size = by == std::string("scharr") ? cv::FILTER_SCHARR : 3;
      cv::Sobel(as_mat(image), dx, CV_64F, 1, 0, size, 1, 0, cv::BORDER_REPLICATE);
      cv::Sobel(as_mat(image), dy, CV_64F, 0, 1, size, 1, 0, cv::BORDER_REPLICATE);
      if (by == std::string("laplacian")) {
        cv::Laplacian(as_mat(image), dx, CV_64F, 1, 1, 0, cv::BORDER_REPLICATE);
        dy = 0;
      }
      Image expected = poisoned_image(image.size(), format);
      const cv::Mat_<double> all_dx(dx.reshape(1));
      const cv::Mat_<double> all_dy(dy.reshape(1));
      for (int y = 0; y < image.size().height; ++y) {
        for (int i = 0; i < image.width() * format.channels; ++i) {
          const double root = std::sqrt(all_dx(y, i) * all_dx(y, i) + all_dy(y, i) * all_dy(y, i));
          set_sample(
              expected, i / format.channels, y, i % format.channels,
              static_cast<std::uint32_t>(std::min<double>(std::round(root), format.max_sample())));
        }
      }
      filter_quietly({in, out_, "--edges", by});
      EXPECT_TRUE(same_pixels(read_picture(out_), expected)) << by << to_string(format);
    }
  }
}

TEST_F(OpenCvComparison, APhotograph) {
  GPUFILTER_REQUIRE_SHARED("photos/pier-5470x3646.jpg");
  const std::string in = shared_path("photos/pier-5470x3646.jpg");
  filter_quietly({in, out_, "--blur", "tiled", "--png-level", "1"});
  const Image photograph = read_picture(in);
  ASSERT_EQ(photograph.size(), (ImageSize{5470, 3646}));
  const Image result = read_picture(out_);
  EXPECT_FALSE(same_pixels(result, photograph));
  EXPECT_TRUE(same_pixels(result, box_filter(photograph, cv::BORDER_REPLICATE)));
}

#else

TEST_F(OpenCvComparison, NeedsOpenCv) {
  GTEST_SKIP() << "skipped: built without OpenCV (libopencv-core-dev, libopencv-imgproc-dev)";
}

#endif

}  // namespace
}  // namespace gpufilter::test
