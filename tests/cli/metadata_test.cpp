// Metadata of inputs and results.

#include "cli/program_fixture.hpp"
#include "codec/byte_source.hpp"
#include "codec/codec_table.hpp"
#include "image/exif.hpp"
#include "stages/colour/color_profile.hpp"
#include "support/jpeg.hpp"
#include "support/png_in_memory.hpp"

namespace gpufilter::test {
namespace {

// The tables of docs/metadata.md, row by row, as ExifTool sees inputs and results.

// A row of a table; its cells without backquotes.
struct Row {
  std::string what;
  std::string tag;
  std::string to_same_format;
  std::string to_other_format;
  std::string stripped;
};

std::vector<Row> rows_below(const std::string& heading) {
  std::ifstream page(GPUFILTER_SOURCE "/docs/metadata.md");
  std::vector<Row> rows;
  std::string line;
  while (std::getline(page, line) && line != heading) {
  }
  while (std::getline(page, line) && !line.starts_with("## ")) {
    if (!line.starts_with("| ") || line.starts_with("| what ")) continue;
    Words cells;
    for (std::size_t at = 0; (at = line.find("| ", at)) != std::string::npos;) {
      at += 2;
      std::string cell = line.substr(at, line.find(" |", at) - at);
      std::erase(cell, '`');
      cells.push_back(cell);
    }
    cells.resize(5);  // some tables have no last column
    rows.push_back({cells.at(0), cells.at(1), cells.at(2), cells.at(3), cells.at(4)});
  }
  return rows;
}

Bytes rgb_profile() {
  constexpr std::uint8_t size = 156;
  Bytes profile(size);
  profile[3] = size;
  profile[8] = 2;
  profile[131] = 1;    // entries in the table
  profile[139] = 144;  // where the first one is
  profile[143] = 12;   // its size
  const std::map<int, std::string_view> words{{12, "mntr"}, {16, "RGB "},  {20, "XYZ "},
                                              {36, "acsp"}, {132, "cprt"}, {144, "text"},
                                              {152, "abc"}};
  for (const auto& [at, word] : words)
    std::copy(word.begin(), word.end(), profile.begin() + at);
  return profile;
}

struct MetadataTest : ProgramTest {
  void save(const std::string& name, const Bytes& bytes) const {
    std::ofstream(folder_.path() / name, std::ios::binary)
        .write(reinterpret_cast<const char*>(bytes.data()),
               static_cast<std::streamsize>(bytes.size()));
  }
};

struct MetadataTable : MetadataTest {
  void SetUp() override {
    if (!has_program("exiftool"))
      GTEST_SKIP() << "skipped: libimage-exiftool-perl is not installed";
    save("thumbnail", encode_with_libjpeg(textured_raster(16, 12, 3)));
    save("profile", rgb_profile());
  }

  // Files of row N are named N.jpg or N.png.
  static std::string file_name(std::size_t row, const std::string& extension) {
    return std::to_string(row) + "." + extension;
  }

  // A file for each row, with the row's metadata alone.
  void make_inputs(const std::vector<Row>& rows, const std::string& extension) const {
    fs::create_directory(folder_.path() / "in");
    Words command{"exiftool"};
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const std::string name = "in/" + file_name(i, extension);
      save(name, extension == "jpg" ? plain_jpeg(rows[i]) : plain_png(rows[i]));
      const Words change = change_for(rows[i]);
      if (change.empty()) continue;
      command = command + change;
      command.insert(command.end(), {"-overwrite_original", folder_ / name, "-execute"});
    }
    ended(0, run_process(command));
  }

  static Bytes plain_jpeg(const Row& row) {
    JpegRecipe recipe;
    if (row.what == "density") {
      recipe.before_start = [](jpeg_compress_struct& jpeg) {
        jpeg.density_unit = 1;
        jpeg.X_density = jpeg.Y_density = 300;
      };
    }
    return encode_with_libjpeg(textured_raster(20, 10, 3), recipe);
  }

  static Bytes plain_png(const Row& row) {
    PngSettings settings;
    if (row.what == "density") {
      settings.metadata.density = Density{Density::Unit::per_metre, 11811, 11811};
    }
    if (row.what == "gamma") settings.metadata.gamma = 100'000;
    if (row.what == "chromaticity") {
      settings.metadata.chromaticity = {31270, 32900, 68000, 32000, 26500, 69000, 15000, 6000};
    }
    return encode_png(random_image({20, 10}, {3, 8}, 1), settings);
  }

  // ExifTool's arguments; none if the file has the row's metadata already.
  [[nodiscard]] Words change_for(const Row& row) const {
    if (row.what == "density" || row.what == "gamma" || row.what == "chromaticity") return {};
    if (row.what.starts_with("thumbnail")) return {"-" + row.tag + "<=" + (folder_ / "thumbnail")};
    if (row.what == "colour profile") return {"-ICC_Profile<=" + (folder_ / "profile")};
    if (row.what == "orientation") return {"-" + row.tag + "#=6"};
    if (row.what == "position") return {"-" + row.tag + "=48.5", "-GPS:GPSLatitudeRef=N"};
    return {"-" + row.tag + "=Some " + row.what};
  }

  using Tags = std::map<std::string, std::string>;

  // ExifTool's tags of every row's file in `folder`.
  [[nodiscard]] std::vector<Tags> read_all(const std::string& folder, const std::string& extension,
                                           std::size_t rows) const {
    Words command{"exiftool", "-j", "-a", "-G1", "-s"};
    for (std::size_t i = 0; i < rows; ++i)
      command.push_back(folder_ / (folder + "/" + file_name(i, extension)));
    const ProcessResult result = ended(0, run_process(command));
    std::vector<Tags> files;
    for (const Json& file : Json::parse(result.out)) {
      Tags& tags = files.emplace_back();
      for (const auto& [name, value] : file.items())
        tags[name] = value.is_string() ? value.get<std::string>() : value.dump();
    }
    return files;
  }

  // The value under another name: density is converted, and a keyword may come before text.
  static std::string converted(const Row& row, const std::string& outcome,
                               const std::string& value) {
    if (row.tag == "JFIF:XResolution" && outcome.starts_with("PNG")) return "11811";
    if (row.tag == "PNG-pHYs:PixelsPerUnitX") return "300";
    if (row.what == "gamma") return "gamma 1";
    if (row.what == "chromaticity") return "gamma 2.2";
    return row.what == "other text" ? "Disclaimer: " + value : value;
  }

  static void expect_outcome(const Row& row, const std::string& outcome, const Tags& before,
                             const Tags& after) {
    SCOPED_TRACE(row.what + ", " + row.tag + ": " + outcome);
    ASSERT_TRUE(before.contains(row.tag)) << ::testing::PrintToString(before);
    const std::string& value = before.at(row.tag);
    if (outcome == "removed" || outcome == "left out") {
      EXPECT_FALSE(after.contains(row.tag)) << after.at(row.tag);
      return;
    }
    const std::string tag = outcome == "kept" ? row.tag : outcome;
    ASSERT_TRUE(after.contains(tag)) << ::testing::PrintToString(after);
    EXPECT_EQ(after.at(tag), outcome == "kept" ? value : converted(row, outcome, value));
  }

  void check(const std::string& heading, const std::string& extension, const std::string& other,
             const std::string& left_out) {
    const std::vector<Row> rows = rows_below(heading);
    ASSERT_GT(rows.size(), 10U);
    make_inputs(rows, extension);
    const std::vector<Tags> before = read_all("in", extension, rows.size());
    const auto expect_all = [&](const std::string& folder, const std::string& format,
                                std::string Row::*outcome) {
      const std::vector<Tags> after = read_all(folder, format, rows.size());
      for (std::size_t i = 0; i < rows.size(); ++i)
        expect_outcome(rows[i], rows[i].*outcome, before[i], after[i]);
    };
    const auto run = [&](const std::string& to, Words options) {
      options.insert(options.begin(), {folder_ / "in", folder_ / to});
      return ended(0, filter(options + Words{"--levels", "auto", "--device", "cpu"})).err;
    };
    const auto warnings = [](const std::string& text) {
      const auto at = text.find("gpufilter: warning: ");
      return at == std::string::npos ? "" : text.substr(at, text.find('\n', at) - at);
    };
    EXPECT_EQ(warnings(run("same", {})), "");
    expect_all("same", extension, &Row::to_same_format);
    EXPECT_EQ(warnings(run("other", {"--to", other})),
              left_out.empty() ? "" : "gpufilter: warning: not carried over: " + left_out);
    expect_all("other", other, &Row::to_other_format);
    EXPECT_EQ(warnings(run("stripped", {"--strip"})), "");
    expect_all("stripped", extension, &Row::stripped);
    ended(0, filter({folder_ / "in", folder_ / "in", "--in-place", "--levels", "auto", "--device",
                     "cpu"}));
    expect_all("in", extension, &Row::to_same_format);
  }
};

// The columns have another meaning there: the outcomes in TIFF and in WebP.
TEST_F(MetadataTable, ToTiffAndWebp) {
  const std::vector<Row> rows = rows_below("## To TIFF and WebP");
  ASSERT_GT(rows.size(), 5U);
  make_inputs(rows, "jpg");
  const auto before = read_all("in", "jpg", rows.size());
  for (const auto& [extension, outcome] : std::vector<std::pair<std::string, std::string Row::*>>{
           {"tif", &Row::to_same_format}, {"webp", &Row::to_other_format}}) {
    if (codec_of_name("a." + extension) == nullptr) continue;
    ended(0, filter({folder_ / "in", folder_ / extension, "--to", extension, "--device", "cpu"}));
    const auto after = read_all(extension, extension, rows.size());
    for (std::size_t i = 0; i < rows.size(); ++i)
      expect_outcome(rows[i], rows[i].*outcome, before[i], after[i]);
  }
}

TEST_F(MetadataTable, FromJpeg) {
  check("## From JPEG", "jpg", "png", "APP12 \"Ducky\" (1 picture)");
}

TEST_F(MetadataTable, FromPng) {
  check("## From PNG", "png", "jpg", "");
}

// One picture with everything; each word of --keep keeps the tags of its own kinds and no others.
TEST_F(MetadataTable, KeepChoosesKinds) {
  const std::vector<std::pair<std::string, std::string>> kinds{{"EXIF", "exif"},
                                                               {"XMP", "xmp"},
                                                               {"IPTC", "iptc"},
                                                               {"comment", "text"},
                                                               {"density", "density"},
                                                               {"colour profile", "icc"},
                                                               {"other APP segments", "other"}};
  std::vector<Row> rows = rows_below("## From JPEG");
  std::erase_if(rows, [&](const Row& row) {
    return row.what != "orientation" &&
           std::none_of(kinds.begin(), kinds.end(),
                        [&](const auto& kind) { return kind.first == row.what; });
  });
  ASSERT_EQ(rows.size(), kinds.size() + 1);
  fs::create_directory(folder_.path() / "in");
  Words command{"exiftool", "-overwrite_original"};
  for (const Row& row : rows)
    command = command + change_for(row);
  command.push_back(folder_ / "in/0.jpg");
  save("in/0.jpg", plain_jpeg(*std::find_if(rows.begin(), rows.end(),
                                            [](const Row& row) { return row.what == "density"; })));
  ASSERT_EQ(run_process(command).exit_code, 0);

  // A file for each list and format, all of them read by one run of ExifTool.
  Words lists{"all", "none", "exif,icc"};
  for (const auto& [what, word] : kinds)
    lists.push_back(word);
  Words extensions{"jpg", "png", "tif", "webp"};
  std::erase_if(extensions,
                [](const std::string& name) { return codec_of_name("a." + name) == nullptr; });
  fs::create_directory(folder_.path() / "out");
  for (const auto& [extension, list] : each_of(extensions, lists)) {
    filter_quietly({folder_ / "in/0.jpg", folder_ / ("out/" + list + "." + extension), "--keep",
                    list, "--device", "cpu", "--log-level", "error"});
  }
  std::map<std::string, Tags> files;
  const ProcessResult read = run_process({"exiftool", "-j", "-a", "-G1", "-s", folder_ / "out"});
  for (const Json& file : Json::parse(read.out)) {
    Tags& tags = files[fs::path(file["SourceFile"].get<std::string>()).filename()];
    for (const auto& [name, value] : file.items())
      tags[name] = value.is_string() ? value.get<std::string>() : value.dump();
  }
  ASSERT_EQ(files.size(), lists.size() * extensions.size());

  const auto names_of = [](const std::string& word, const std::string& extension) {
    if (word == "density" && extension == "tif") return Words{"IFD0:XResolution"};
    const std::map<std::string, Words> names{
        {"exif", {"IFD0:Artist"}},
        {"xmp", {"XMP-dc:Subject"}},
        {"iptc", {"IPTC:By-line", "IPTC2:By-line"}},
        {"text", {"File:Comment", "PNG:Comment", "IFD0:ImageDescription"}},
        {"density", {"JFIF:XResolution", "PNG-pHYs:PixelsPerUnitX"}},
        {"icc", {"ICC-header:ColorSpaceData"}},
        {"other", {"Ducky:Comment"}}};
    return names.at(word);
  };
  for (const std::string& extension : extensions) {
    const Tags& all = files.at("all." + extension);
    // Whether the tags of `word` are there as in `all`.
    const auto has = [&](const Tags& tags, const std::string& word) {
      const auto names = names_of(word, extension);
      return std::any_of(names.begin(), names.end(), [&](const std::string& name) {
        return all.contains(name) && tags.contains(name) && tags.at(name) == all.at(name);
      });
    };
    int held = 0;
    for (const std::string& list : lists) {
      SCOPED_TRACE(extension + " --keep " + list);
      const Tags& tags = files.at(list + "." + extension);
      for (const auto& [what, word] : kinds) {
        const bool is_kept =
            list == "all" || ("," + list + ",").find("," + word + ",") != std::string::npos;
        EXPECT_EQ(has(tags, word), is_kept && has(all, word)) << word;
        held += list == "all" && has(all, word) ? 1 : 0;
      }
      ASSERT_TRUE(tags.contains("IFD0:Orientation"));
      EXPECT_EQ(tags.at("IFD0:Orientation"), all.at("IFD0:Orientation"));
    }
    EXPECT_EQ(held, extension == "jpg" ? 7 : extension == "webp" ? 3 : 6);
  }
}

TEST_F(MetadataTest, WarnsOnceOfWhatTheOutputCannotHold) {
  PngSettings settings;
  settings.metadata.density = Density{Density::Unit::per_metre, 2835, 2835};
  const Image image = random_image({20, 10}, {3, 8}, 1);
  save("in.png", encode_png(image, settings));
  const std::string webp = folder_ / "out.webp";
  EXPECT_EQ(ended(0, filter({folder_ / "in.png", webp, "--timing", "off"})).err,
            "gpufilter: warning: " + webp + ": not carried over: density\n");
  const std::string out = folder_ / "out.jpg";
  settings.metadata.gamma = 100'000;
  // Gamma has no meaning beside a profile.
  settings.metadata.icc_profile.emplace().data = rgb_profile();
  save("in.png", encode_png(image, settings));
  EXPECT_EQ(filter({folder_ / "in.png", out, "--timing", "off"}).err, "");
}

// ExifTool and ImageMagick write text there.
TEST_F(MetadataTest, TextBehindThePixelsReachesAJpegFromAFileButNotFromAStream) {
  PngSettings settings;
  settings.trailing.text = {{"Comment", "late", "", ""}};
  const Bytes png = encode_png(random_image({20, 10}, {3, 8}, 1), settings);
  save("in.png", png);
  const std::string out = folder_ / "out.jpg";
  filter_quietly({folder_ / "in.png", out});
  const auto text = open_picture(open_source(out))->header().metadata.text;
  ASSERT_EQ(text.size(), 1U);
  EXPECT_EQ(text[0].text, "late");
  EXPECT_EQ(ended(0, filter({"-", out, "--timing", "off"},
                            {.input = std::string(png.begin(), png.end())}))
                .err,
            "gpufilter: warning: " + out +
                ": not carried over: text that follows the pixels in a stream\n");
}

// Otherwise --resume would take pictures with metadata for done.
TEST_F(MetadataTest, StrippingIsPartOfWhatTheJournalRemembers) {
  fs::create_directory(folder_.path() / "in");
  write_png(random_image({20, 10}, {3, 8}, 1), folder_ / "in/a.png");
  const std::string in = folder_ / "in";
  const std::string out = folder_ / "out";
  const auto run = [&](const Words& options) {
    return filter_json(0, Words{in, out, "--resume", "--json"} + options)["pictures"][0]["status"]
        .get<std::string>();
  };
  EXPECT_EQ(run({"--strip"}), "done");
  EXPECT_NE(run({"--strip"}), "done");
  EXPECT_EQ(run({}), "done");
}

// Metadata as other programs write it: read as they mean it, and right for the result.

struct ForeignMetadata : ProgramTest {
  static void SetUpTestSuite() {
    if (!has_program("exiftool"))
      GTEST_SKIP() << "skipped: libimage-exiftool-perl is not installed";
  }

  static std::string exiftool(const Words& words) {
    return run_process(Words{"exiftool"} + words).out;
  }

  // A 64x48 picture with what ExifTool's arguments say.
  std::string tagged(const std::string& name, const Words& tags) const {
    const std::string path = stored(random_image({64, 48}, {3, 8}, 1), "plain.png");
    const std::string file = folder_ / name;
    filter_quietly({path, file, "--on-exists", "overwrite"});
    exiftool(tags + Words{"-q", "-n", "-overwrite_original", file});
    return file;
  }

  static PictureHeader header_of(const std::string& path) {
    return open_picture(open_source(path))->header();
  }
};

TEST_F(ForeignMetadata, OrientationMayBeALongIntegerAndInkInverted) {
  filter_quietly({case_path("jpeg-orientation-6-as-long.jpg"), out_, "--auto-orient"});
  EXPECT_EQ(read_picture(out_).size(), (ImageSize{50, 67}));
  EXPECT_EQ(stored_orientation(header_of(out_).metadata).value_or(1), 1);
  const Image image = read_picture(case_path("jpeg-cmyk-without-adobe-marker.jpg"));
  EXPECT_EQ(sample_at(image, 10, 10, 0), 38U);
  EXPECT_EQ(sample_at(image, 10, 10, 1), 52U);
  EXPECT_EQ(sample_at(image, 10, 10, 2), 60U);
}

TEST_F(ForeignMetadata, OrientationOfXmpAloneIsApplied) {
  for (const char* name : {"in.jpg", "in.png", "in.webp", "in.tif"}) {
    if (codec_of_name(name) == nullptr) continue;
    const std::string in = tagged(name, {"-XMP-tiff:Orientation=6"});
    const std::string out = folder_ / (std::string("out-") + name);
    filter_quietly({in, out, "--auto-orient"});
    EXPECT_EQ(read_picture(out).size(), (ImageSize{48, 64})) << name;
    EXPECT_EQ(exiftool({"-n", "-s3", "-XMP-tiff:Orientation", out}), "1\n") << name;
    // Without XMP it is in EXIF.
    const std::string stripped = folder_ / (std::string("stripped-") + name);
    filter_quietly({in, stripped, "--strip"});
    EXPECT_EQ(exiftool({"-n", "-s3", "-IFD0:Orientation", stripped}), "6\n") << name;
  }
}

TEST_F(ForeignMetadata, SizesAreThoseOfTheResult) {
  const std::string shared = folder_ / "shared.jpg";
  filter_quietly({case_path("jpeg-exif-pixel-dimensions.jpg"), shared, "--resize", "20x"});
  EXPECT_EQ(exiftool({"-s3", "-ExifImageWidth", "-ExifImageHeight", shared}), "20\n15\n");
  for (const char* name : {"in.jpg", "in.png", "in.webp"}) {
    if (codec_of_name(name) == nullptr) continue;
    const std::string in =
        tagged(name, {"-ExifImageWidth=64", "-ExifImageHeight=48", "-XMP-tiff:ImageWidth=64",
                      "-XMP-tiff:ImageHeight=48", "-XMP-exif:ExifImageWidth=64",
                      "-XMP-exif:ExifImageHeight=48"});
    const std::string out = folder_ / (std::string("out-") + name);
    filter_quietly({in, out, "--crop", "32x16+0+0"});
    EXPECT_EQ(exiftool({"-s3", "-ExifIFD:ExifImageWidth", "-ExifIFD:ExifImageHeight",
                        "-XMP-tiff:ImageWidth", "-XMP-tiff:ImageHeight", "-XMP-exif:ExifImageWidth",
                        "-XMP-exif:ExifImageHeight", out}),
              "32\n16\n32\n16\n32\n16\n")
        << name;
    EXPECT_FALSE(contains(exiftool({"-validate", "-warning", "-a", "-s3", out}), "IFD"));
  }
}

TEST_F(ForeignMetadata, LosesOnlyThePlaceByStripGps) {
  for (const char* name : {"in.jpg", "in.png", "in.webp", "in.tif", "in.avif", "in.jxl"}) {
    if (codec_of_name(name) == nullptr) continue;
    const std::string source = tagged(
        "source.jpg",
        {"-GPSLatitude=48.1372", "-GPSLatitudeRef=N", "-GPSLongitude=11.5756", "-GPSLongitudeRef=E",
         "-XMP-exif:GPSLatitude=48.1372", "-XMP-exif:GPSLongitude=11.5756", "-XMP-dc:Title=A title",
         "-Make=Maker", "-Model=Model", "-ExposureTime=0.01", "-Orientation=3"});
    const std::string in = folder_ / name;
    filter_quietly({source, in, "--on-exists", "overwrite"});
    ASSERT_NE(exiftool({"-s3", "-GPS:all", "-XMP-exif:all", in}), "") << name;
    const std::string out = folder_ / (std::string("out-") + name);
    filter_quietly({in, out, "--strip", "gps", "--blur", "auto"});
    EXPECT_EQ(exiftool({"-s3", "-GPS:all", "-XMP-exif:GPS*", out}), "") << name;
    EXPECT_FALSE(contains(read_file(out), "GPS")) << name;
    const Words rest{"-n",           "-s3", "-IFD0:Make", "-IFD0:Model", "-ExifIFD:ExposureTime",
                     "-XMP-dc:Title"};
    auto before = rest;
    before.push_back(in);
    auto after = rest;
    after.push_back(out);
    EXPECT_EQ(exiftool(after), exiftool(before)) << name;
    EXPECT_NE(exiftool(after), "") << name;
  }
}

TEST_F(ForeignMetadata, ExifIsReadBehindARepeatedPrefix) {
  std::string bytes = read_file(tagged("in.jpg", {"-Make=Maker", "-Orientation=6"}));
  const std::string prefix("Exif\0\0", 6);
  const std::size_t at = bytes.find(prefix);
  ASSERT_NE(at, std::string::npos);
  bytes.insert(at, prefix);
  const auto length = static_cast<unsigned char>(bytes[at - 1]) + prefix.size();
  ASSERT_LT(length, 256U);
  bytes[at - 1] = static_cast<char>(length);
  const std::string twice = folder_ / "twice.jpg";
  write_file(twice, bytes);
  EXPECT_FALSE(contains(exiftool({"-n", "-s3", "-Orientation", twice}), "6"));
  for (const char* name : {"out.jpg", "out.png"}) {
    const std::string out = folder_ / name;
    filter_quietly({twice, out, "--gray"});
    EXPECT_EQ(exiftool({"-n", "-s3", "-IFD0:Make", "-IFD0:Orientation", out}), "Maker\n6\n");
  }
}

TEST_F(ForeignMetadata, ColoursNamedByCodePointsBecomeAProfile) {
  const std::string in = case_path("png-cicp-display-p3.png");
  for (const char* name : {"out.jpg", "out.webp", "out.tif"}) {
    if (codec_of_name(name) == nullptr) continue;
    const std::string out = folder_ / name;
    filter_quietly({in, out});
    EXPECT_EQ(exiftool({"-s3", "-ICC_Profile:ProfileDescription", out}), "Display P3\n") << name;
    ended(0, filter({out, folder_ / "again.png", "--on-exists", "overwrite"}));
  }
  const std::string png = out_;
  filter_quietly({in, png});
  EXPECT_TRUE(header_of(png).metadata.coding_points.has_value());
  EXPECT_FALSE(header_of(png).metadata.icc_profile.has_value());
  const std::string srgb = folder_ / "srgb.png";
  filter_quietly({in, srgb, "--to-srgb"});
  EXPECT_FALSE(header_of(srgb).metadata.coding_points.has_value());
  EXPECT_EQ(header_of(srgb).metadata.icc_profile->data, srgb_profile().data);
  EXPECT_FALSE(same_pixels(read_picture(srgb), read_picture(in)));
}

TEST_F(ForeignMetadata, AProfileOfOtherColoursCountsAsNone) {
  const std::string in = case_path("png-rgb-with-grey-profile.png");
  expect_one_line(ended(0, filter({in, out_, "--to-srgb", "--timing", "off"})).err,
                  {"warning: " + in +
                   ": --to-srgb: the ICC profile is for grey, but "
                   "the picture is RGB; its colours count as sRGB"});
  EXPECT_TRUE(same_pixels(read_picture(out_), read_picture(in)));
}

// A kept profile would apply to the RGB pixels.
TEST_F(ForeignMetadata, AProfileOfRgbIsNotKeptFromACmykJpeg) {
  const std::string in = folder_ / "in.jpg";
  write_file(in, read_file(case_path("jpeg-cmyk-without-adobe-marker.jpg")));
  exiftool({"-q", "-overwrite_original",
            "-ICC_Profile<=" GPUFILTER_SOURCE "/samples/profiles/display-p3.icc", in});
  ASSERT_NE(exiftool({"-s3", "-ICC_Profile:ProfileDescription", in}), "");
  for (const char* stage : {"--blur", "--to-srgb"}) {
    Words words{in, out_, "--timing", "off", "--on-exists", "overwrite", stage};
    if (words.back() == "--blur") words.emplace_back("auto");
    expect_one_line(ended(0, filter(words)).err, {"warning: " + in +
                                                  ": the ICC profile is for RGB, but the picture "
                                                  "is CMYK; it is left out"});
    const auto& profile = header_of(out_).metadata.icc_profile;
    EXPECT_TRUE(!profile || profile->data == srgb_profile().data);
  }
}

}  // namespace
}  // namespace gpufilter::test
