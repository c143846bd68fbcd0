// Wrong usage is found before any picture is touched; help and version.
#include <sstream>

#include "cli/filter_fixture.hpp"
#include "codec/codec_table.hpp"
#include "stages/colour/color_profile.hpp"

namespace gpufilter::test {
namespace {

class FilterUsage : public FilterTest {
 protected:
  // Expects that these words after "in.png out.png" end with 2. The output already exists and the
  // input is not a picture, so touching either would show.
  void expect_refused(const std::vector<std::string>& words,
                      const std::vector<std::string>& parts) const {
    write_file(folder_ / "in.png", "no picture");
    write_file(folder_ / "out.png", "before");
    std::vector<std::string> arguments{"in.png", "out.png", "--blur", "auto"};
    arguments.insert(arguments.end(), words.begin(), words.end());
    expect_failure(2, arguments, parts, {.folder = folder_.path()});
  }
};

TEST_F(FilterUsage, BothNamesAreRequired) {
  expect_failure(2, {"--blur", "auto"}, {"INPUT is required", "--help"});
  expect_failure(2, {"in.png"}, {"OUTPUT is required", "--help"});
  expect_failure(2, {"in.png", "--blur", "tiled"}, {"OUTPUT is required"});
  write_file(folder_ / "in.png", "no picture");
  expect_failure(2, {"in.png", "in.png", "more.png"}, {"more.png: no such folder; "},
                 {.folder = folder_.path()});
}

TEST_F(FilterUsage, AMissingFolderIsNamedInsteadOfTheOutput) {
  expect_failure(1, {"photso", "results", "--blur", "auto"}, {"photso: no such file or folder"});
  expect_failure(1, {"photso", "results", "--recursive"}, {"photso: no such file or folder"});
}

TEST_F(FilterUsage, UnknownOptionsAreNamed) {
  expect_refused({"--no-such-option"}, {"--no-such-option: "});
  expect_refused({"--no-such-option", "7"}, {"--no-such-option: "});
  expect_refused({"-z"}, {"-z: "});
}

TEST_F(FilterUsage, BadValuesAreNamed) {
  const std::vector<std::pair<std::string, std::vector<std::string>>> cases{
      {"--blur", {"foo", "", "Tiled", "9"}},
      {"--tile", {"0", "12", "x", "-8", "8.5"}},
      {"--border", {"foo", ""}},
      {"--alpha", {"foo"}},
      {"--quality", {"0", "101", "-1", "x", "85.5", "1e1", ""}},
      {"--subsampling", {"foo", "", "4:2:0", "440", "0"}},
      {"--restart", {"foo", "", "1"}},
      {"--png-level", {"-1", "10", "x"}},
      {"--max-pixels", {"0", "-1", "x", "1e3", "18446744073709551616"}},
      {"--band-rows", {"0", "-1", "x", "2147483648"}},
      {"--threads", {"0", "-1", "x", "1025"}},
      {"--max-memory", {"0", "", "x", "1T", "-1M", "18446744073709551616"}},
      {"--on-exists", {"foo"}},
      {"--timing", {"foo", "JSON"}},
      {"--progress", {"foo"}},
      {"--log-level", {"foo"}},
  };
  for (const auto& [option, values] : cases) {
    for (const std::string& value : values) {
      expect_refused({std::string(option).append("=").append(value)}, {option});
    }
    expect_refused({option}, {option, "needs a value"});
  }
  expect_refused({"--quality", "5\n6"}, {"'5\\n6' is not a whole number"});
  expect_refused({"--threads", "5\n6"}, {"'5\\n6' is not a whole number"});
  for (const std::string value : {"pink", "#12", "#12345g", "102030", "#", "#1234567"}) {
    expect_refused({"--background", value}, {"'" + value + "'", "#rrggbb"});
  }
}

TEST_F(FilterUsage, OneLineTellsWhatIsPossible) {
  expect_refused({"--blur", "foo"}, {"--blur foo: choose naive, tiled or auto"});
  expect_refused({"--blur", "tield"}, {"--blur tield: ", "did you mean tiled?"});
  expect_refused({"--blurr", "tiled"}, {"--blurr: ", "did you mean --blur?"});
  expect_refused({"--quality", "101"}, {"'101'", "from 1 to 100"});
  expect_refused({"--device", "gpu", "--device", "cpu"}, {"--device", "more than once"});
}

TEST_F(FilterUsage, ParametersBelongToAStageThatTakesThem) {
  expect_refused({"--tile", "8"}, {"--tile 8: --blur auto does not take it", "--blur tiled"});
  expect_refused({"--color", "sepia", "--border", "wrap"},
                 {"--border wrap: --color sepia does not take it", "--blur"});
  expect_refused({"--border", "wrap", "--border", "mirror"},
                 {"--border wrap and --border mirror: ", "--blur auto"});
}

TEST_F(FilterUsage, OutputNamesDecideTheFormat) {
  for (const std::string name : {"out.gif", "out", "png", ".png.txt", "out.png.", "/dev/null"}) {
    expect_failure(2, {"missing.png", name}, {name + ": ", ".png", ".jpg"});
  }
}

TEST_F(FilterUsage, AReferenceIsNoDevice) {
  expect_refused({"--device", "cpu", "--require-device"}, {"--require-device", "cpu"});
}

TEST_F(FilterUsage, TheTraceIsNoPicture) {
  expect_refused({"--trace", "in.png"}, {"in.png: ", "--trace"});
  expect_refused({"--trace", "./out.png"}, {"./out.png: ", "--trace"});
  expect_refused({"--trace", "-", "--timing", "json"}, {"--trace"});
  expect_failure(2, {"in.png", "not-yet.png", "--trace", "./not-yet.png"}, {"--trace"},
                 {.folder = folder_.path()});
  expect_failure(2, {"in.png", "-", "--trace", "-"}, {"--trace"}, {.folder = folder_.path()});
}

TEST_F(FilterUsage, TilesFitDevicesOfSmallWorkGroups) {
  GPUFILTER_REQUIRE_DEVICE();
  const std::string in = stored(random_image(size_, format_, 1), "in.png");
  // PoCL reports this as its limit; other devices ignore it.
  const ProcessOptions small{.environment = {{"POCL_MAX_WORK_GROUP_SIZE", "64"}}};
  const Json devices = Json::parse(filter({"devices", "--json"}, small).out)["devices"];
  if (devices[0]["max_work_group_size"] != 64) {
    GTEST_SKIP() << "skipped: no device whose work-groups can be limited";
  }
  // A CPU's tile is one work-item. SmallDevice in tests/stages tests refused tiles.
  EXPECT_EQ(devices[0]["blur_tiles"], Json::array({8, 16, 32}));
  const std::string out = folder_ / "out.png";
  for (const std::string tile : {"8", "16", "32"}) {
    filter_quietly({in, out, "--device", "0", "--blur", "tiled", "--tile", tile}, small);
    EXPECT_TRUE(same_pixels(read_picture(out), blurred(read_picture(in))));
  }
  filter_quietly({in, out, "--device", "0", "--blur", "auto"}, small);
  EXPECT_TRUE(same_pixels(read_picture(out), blurred(read_picture(in))));
}

TEST_F(FilterUsage, OptionsThatNoOutputTakesAreRefused) {
  expect_refused({"--quality", "80"}, {"--quality: PNG output does not take it"});
  expect_refused({"--subsampling", "420"}, {"--subsampling: PNG output does not take it"});
  expect_refused({"--restart", "off"}, {"--restart: PNG output does not take it"});
  expect_refused({"--progressive"}, {"--progressive: PNG output does not take it"});
  expect_refused({"--background", "red"}, {"--background: PNG output does not take it"});
  expect_failure(2, {"missing.png", "out.jpg", "--png-level", "3"},
                 {"--png-level: JPEG output does not take it"});
  expect_failure(2, {"-", "-", "--to", "png", "--quality", "80"},
                 {"--quality: PNG output does not take it"});
}

TEST_F(FilterUsage, OptionsWithoutEffectBringAWarning) {
  const ProcessOptions here{.folder = folder_.path()};
  const auto warning = [&here](std::vector<std::string> words) {
    words.insert(words.end(), {"--timing", "off"});
    return ended(0, filter(std::move(words), here)).err;
  };
  static_cast<void>(stored(random_image(size_, {3, 8}, 1), "rgb.png"));
  static_cast<void>(stored(random_image(size_, {4, 8}, 1), "rgba.png"));
  static_cast<void>(stored(random_image(size_, {1, 8}, 1), "grey.png"));
  expect_one_line(warning({"rgb.png", "out.jpg", "--background", "red"}),
                  {"--background has no effect: the picture has no alpha"});
  EXPECT_FALSE(contains(warning({"rgba.png", "out.jpg", "--background", "red"}), "no effect"));
  expect_one_line(warning({"grey.png", "out.jpg", "--subsampling", "420"}),
                  {"--subsampling has no effect: the picture is grey"});
  EXPECT_EQ(warning({"grey.png", "out.jpg", "--subsampling", "420", "--color", "sepia"}), "");
  expect_one_line(warning({"rgb.png", "-", "--quality", "80"}),
                  {"--quality has no effect: the output is a PNG"});
  filter_quietly({"rgb.png", "out.jpg", "--background", "red"}, here);
}

TEST_F(FilterUsage, VersionIsANumber) {
  const ProcessResult version = ended(0, filter({"--version"}));
  EXPECT_EQ(version.err, "");
  EXPECT_TRUE(version.out.starts_with("gpufilter ")) << version.out;
  EXPECT_NE(version.out.find('.'), std::string::npos);
  EXPECT_TRUE(version.out.ends_with("\n" + codec_versions() + ", " + little_cms_of_build() + "\n"))
      << version.out;
  EXPECT_EQ(filter({"-V"}).out, version.out);
  EXPECT_EQ(filter({"version"}).out, version.out);
}

// Each library costs every start of the program time.
TEST_F(FilterUsage, LibrariesOfOneFormatAreLoadedForItsPicturesOnly) {
  static_cast<void>(stored(random_image({3, 2}, {3, 8}, 1), "rgb.png"));
  const auto loads = [&](const std::vector<std::string>& words, const std::string& library) {
    ProcessOptions options{.folder = folder_.path()};
    options.environment["LD_DEBUG"] = "files";
    return filter(words, options).err.find("file=" + library) != std::string::npos;
  };
  for (const std::string extension : {"tiff", "webp", "jxl", "heic"}) {
    const std::string library = "lib" + (extension == "heic" ? "heif" : extension.substr(0, 4));
    EXPECT_FALSE(loads({"--version"}, library));
    EXPECT_FALSE(loads({"rgb.png", "out.jpg"}, library));
    if (codec_of_name("a." + extension) == nullptr) continue;
    EXPECT_TRUE(loads({"rgb.png", "out." + extension}, library));
  }
}

}  // namespace
}  // namespace gpufilter::test
