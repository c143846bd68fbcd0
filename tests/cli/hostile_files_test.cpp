// Files made to cost more than they should, given to the whole program: refused at once, with one
// line, or read with a warning.
#include <sys/resource.h>

#include "cli/program_fixture.hpp"
#include "support/jpeg_parts.hpp"
#include "support/png_oracle.hpp"

namespace gpufilter::test {
namespace {

class HostileFiles : public ProgramTest {
 protected:
  // A PNG of these chunks in the test's folder, and its path.
  [[nodiscard]] std::string stored_png(const std::string& name,
                                       const std::vector<PngPart>& parts) const {
    return stored_bytes(name, join_png(parts));
  }

  [[nodiscard]] std::string stored_bytes(const std::string& name, const Bytes& bytes) const {
    std::string path = folder_ / name;
    write_file(path, {bytes.begin(), bytes.end()});
    return path;
  }

  // Expects that `program` refuses a file of a few bytes within the time and memory that
  // docs/engineering/limits.md gives. Sanitizers need more.
  void expect_cheap_refusal(int exit_code, const std::vector<std::string>& arguments,
                            const std::vector<std::string>& parts) const {
    SCOPED_TRACE(::testing::PrintToString(arguments));
    const double start = seconds_of_children();
    const ProcessResult result = filter(arguments);
    EXPECT_LT(seconds_of_children() - start, 1);
    EXPECT_EQ(result.exit_code, exit_code);
    expect_one_line(result.err, parts);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
    EXPECT_LT(result.peak_memory, std::uint64_t{60} << 20U);
#endif
  }

  // Seconds of the processor, whatever else the machine does.
  static double seconds_of_children() {
    rusage usage{};
    EXPECT_EQ(::getrusage(RUSAGE_CHILDREN, &usage), 0);
    const auto seconds = [](const timeval& time) {
      return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
    };
    return seconds(usage.ru_utime) + seconds(usage.ru_stime);
  }

  void expect_cheap_refusals(const std::string& file, const std::vector<std::string>& parts) const {
    const std::string sound = stored(random_image(size_, format_, 1), "sound.png");
    expect_cheap_refusal(1, {file, folder_ / "out.png", "--device", "cpu"}, parts);
    expect_cheap_refusal(1, {"stats", file}, parts);
    expect_cheap_refusal(4, {"compare", sound, file}, parts);
  }

  [[nodiscard]] static PngPart header(std::uint32_t width, std::uint32_t height, int depth,
                                      int color_type, int interlacing = 0) {
    return {"IHDR", png_header(width, height, depth, color_type, interlacing)};
  }

  const std::vector<PngPart> pixels_{{"IDAT", deflated(Bytes{0, 0})}, {"IEND", {}}};

  [[nodiscard]] std::vector<PngPart> followed_by_pixels(std::vector<PngPart> parts) const {
    parts.insert(parts.end(), pixels_.begin(), pixels_.end());
    return parts;
  }
};

TEST_F(HostileFiles, AHeaderInTheWrongPlace) {
  const PngPart text{"tEXt", Bytes(20, 'x')};
  const auto file =
      stored_png("in.png", followed_by_pixels({text, header(200'000, 200'000, 16, 6, 1)}));
  expect_cheap_refusals(file, {file + ": damaged PNG: IHDR is not the first chunk"});
}

TEST_F(HostileFiles, AHeaderWithAWrongChecksum) {
  PngPart damaged = header(4'000'000, 3'000'000, 8, 0);
  damaged.damaged = true;
  const auto file = stored_png("in.png", followed_by_pixels({damaged}));
  expect_cheap_refusals(file, {file + ": damaged PNG: IHDR: CRC error\n"});
}

TEST_F(HostileFiles, RowsWithoutEnd) {
  for (const auto& [width, height] : {std::pair{60'000'000U, 8U}, {500'000'000U, 1U}}) {
    const auto file = stored_png("in.png", followed_by_pixels({header(width, height, 8, 0)}));
    expect_cheap_refusals(file, {file + ": ", "narrower"});
  }
}

// Files within the limits are refused because their data is missing.
TEST_F(HostileFiles, SizesWithoutPixels) {
  for (const auto& [width, height] : {std::pair{1U << 20U, 400U}, {1U, 500'000'000U}}) {
    const auto file = stored_png("in.png", followed_by_pixels({header(width, height, 16, 6)}));
    const std::string reason = file + ": damaged PNG: Not enough image data";
    expect_cheap_refusal(1, {file, folder_ / "out.png", "--device", "cpu"}, {reason});
    expect_cheap_refusal(1, {"stats", file}, {reason});
  }
}

TEST_F(HostileFiles, InterlacedPicturesThatDoNotFit) {
  const auto file = stored_png("in.png", followed_by_pixels({header(25'000, 20'000, 16, 6, 1)}));
  expect_cheap_refusals(file, {file + ": ", "without interlacing", "--max-memory 3815M"});
  // The advice in the message works: then the pixels are missing.
  expect_failure(1, {file, folder_ / "out.png", "--device", "cpu", "--max-memory", "3815M"},
                 {file + ": damaged PNG: Not enough image data"});
}

// Arithmetic decoding reads the zeros after the end as data: 100 bytes are 500 megapixels.
TEST_F(HostileFiles, CoefficientsThatDoNotFit) {
  const Bytes jpeg = tiny_jpeg({progressive_arithmetic, 65500, 7600, {0x11, 0x11, 0x11, 0x11}}, 4);
  const auto file = stored_bytes("in.jpg", jpeg);
  expect_cheap_refusals(file, {file + ": ", "baseline JPEG", "--max-memory 3799M"});
}

TEST_F(HostileFiles, ABorderThatWrapsHoldsThePictureWhole) {
  const auto file = stored_png("in.png", followed_by_pixels({header(25'000, 20'000, 16, 6)}));
  expect_failure(
      1, {file, folder_ / "out.png", "--device", "cpu", "--blur", "auto", "--border", "wrap"},
      {file + ": ", "wraps", "--max-memory 3815M"});
  expect_failure(1, {file, folder_ / "out.png", "--device", "cpu", "--blur", "auto"},
                 {file + ": damaged PNG: Not enough image data"});
}

TEST_F(HostileFiles, OverlaysThatDoNotFit) {
  const std::string sound = stored(random_image(size_, format_, 1), "sound.png");
  const auto file = stored_png("big.png", followed_by_pixels({header(20'000, 20'000, 8, 2)}));
  std::vector<std::string> command{sound, folder_ / "out.png", "--device",
                                   "cpu", "--overlay",         file};
  expect_cheap_refusal(2, command, {file + ": an overlay ", "--max-memory 3434M"});
  command.insert(command.end(), {"--max-pixels", "399999999"});
  expect_cheap_refusal(2, command, {file + ": ", "raise it with --max-pixels"});
  // The advice in the message works: then the pixels are missing.
  command.resize(6);
  command.insert(command.end(), {"--max-memory", "3434M"});
  expect_failure(2, command, {file + ": damaged PNG: Not enough image data"});
}

TEST_F(HostileFiles, HaldClutsOfAWrongSize) {
  const std::string sound = stored(random_image(size_, format_, 1), "sound.png");
  const auto file = stored_png("big.png", followed_by_pixels({header(20'000, 20'000, 8, 2)}));
  expect_cheap_refusal(2, {sound, folder_ / "out.png", "--device", "cpu", "--lut", file},
                       {file + ": a HaldCLUT is a square of ", "20000x20000"});
}

TEST_F(HostileFiles, DevicesWithoutAnEnd) {
  const std::string sound = stored(random_image(size_, format_, 1), "sound.png");
  for (const std::string device : {"/dev/zero", "/dev/urandom"}) {
    const std::string out = folder_ / "out.png";
    for (const char* option :
         {"--lut", "--overlay", "--color", "--convolve", "--mlp", "--net", "--profile"})
      expect_cheap_refusal(2, {sound, out, "--device", "cpu", option, device}, {device + ":"});
    expect_cheap_refusal(2, {sound, out, "@" + device}, {device + ": "});
    expect_cheap_refusal(1, {folder_.path(), folder_ / "out", "--list", device}, {device + ": "});
    expect_cheap_refusal(1, {device, out, "--device", "cpu", "--levels", "auto"}, {device + ": "});
  }
}

class DamagedMetadata : public HostileFiles {
 protected:
  const Image image_ = random_image(size_, format_, 2);
  const std::string sound_ = stored(image_, "sound.png");
  const std::string damaged_ = with_damaged_text("damaged.png");
  const std::string warning_ = "skipped damaged metadata: tEXt (CRC error)";

 private:
  [[nodiscard]] std::string with_damaged_text(const std::string& name) const {
    const std::string content = read_file(sound_);
    std::vector<PngPart> parts = split_png(Bytes(content.begin(), content.end()));
    parts.insert(parts.begin() + 1, {"tEXt", {'a', 0, 'b'}, 0, true});
    return stored_png(name, parts);
  }
};

// Once, though --levels auto reads the file twice.
TEST_F(DamagedMetadata, IsSkippedWithAWarning) {
  const std::string out = folder_ / "out.png";
  const ProcessResult result =
      ended(0, filter({damaged_, out, "--device", "cpu", "--levels", "auto", "--timing", "off"}));
  expect_one_line(result.err, {damaged_ + ": " + warning_ + "\n"});
  filter_quietly({damaged_, out, "--device", "cpu"});
  EXPECT_TRUE(same_pixels(read_picture(out), image_));
}

TEST_F(DamagedMetadata, IsSkippedByEverySubcommand) {
  const ProcessResult compared = ended(0, filter({"compare", sound_, damaged_}));
  expect_one_line(compared.err, {damaged_ + ": " + warning_});
  expect_one_line(ended(0, filter({"stats", damaged_})).err, {damaged_ + ": " + warning_});
}

TEST_F(DamagedMetadata, IsSkippedInFolders) {
  const std::string in = folder_ / "in";
  const std::string out = folder_ / "out";
  std::filesystem::create_directory(in);
  std::filesystem::rename(damaged_, in + "/a.png");
  const ProcessResult result = ended(0, filter({in, out, "--device", "cpu", "--timing", "off"}));
  EXPECT_TRUE(contains(result.err, "a.png: " + warning_ + "\n"));
  EXPECT_TRUE(same_pixels(read_picture(out + "/a.png"), image_));
}

}  // namespace
}  // namespace gpufilter::test
