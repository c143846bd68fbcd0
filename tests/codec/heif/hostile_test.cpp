// HEIC and AVIF files whose boxes are wrong: refused with a reason before libheif sees them.
#include <ctime>

#include "support/coding.hpp"
#include "support/heif_sketch.hpp"

namespace gpufilter::test {
namespace {

using Names = std::vector<std::string>;

// AV1 of 64x64 pixels, of which only the header is sound.
SketchedItem header_alone(std::uint16_t id) {
  const Bytes sequence{0x0A, 6, 0x18, 0x15, 0x7F, 0xFC, 0, 8};
  return {id, "av01", sequence, {{"av1C", {0x81, 0, 0, 0}}}};
}

std::string refusal(std::uint16_t primary, const std::vector<SketchedItem>& items,
                    const std::vector<SketchedReference>& references = {}) {
  return why_refused(heif_file("avif", primary, items, references));
}

TEST(HostileHeif, PartsThatAreMissingOrContainThemselves) {
  const std::string missing = "in: damaged AVIF: a picture is missing in it";
  const std::string itself = "in: damaged AVIF: a picture in it contains itself";
  const SketchedItem coded = header_alone(2);
  for (const SketchedItem& whole : {overlay_item(1, {0, 0, 0}, 64, 64, {{0, 0}, {0, 0}}),
                                    grid_item(1, 1, 2, 128, 64), SketchedItem{1, "iden"}}) {
    SCOPED_TRACE(whole.type);
    EXPECT_EQ(refusal(1, {whole, coded}, {{"dimg", 1, {2, 77}}}), missing);
    EXPECT_EQ(refusal(1, {whole, coded}, {{"dimg", 1, {2, 1}}}), itself);
    EXPECT_EQ(refusal(1, {whole, coded, {3, "iden"}}, {{"dimg", 1, {2, 3}}, {"dimg", 3, {1}}}),
              itself);
    EXPECT_EQ(refusal(1, {whole, coded}), "in: damaged AVIF: a picture in it is made of no other");
    EXPECT_EQ(refusal(1, {whole, coded, {3, "Exif", {0, 0, 0, 0, 0}}}, {{"dimg", 1, {2, 3}}}),
              "in: it has a picture of the type \"Exif\", which is not supported: save it in "
              "another format");
  }
  EXPECT_EQ(refusal(7, {coded}), missing);
  // Alpha that is made of the picture whose alpha it is.
  const SketchedItem alpha{3, "iden", {}, {is_alpha()}};
  EXPECT_EQ(refusal(2, {coded, alpha}, {{"auxl", 3, {2}}, {"dimg", 3, {2}}}), itself);
}

TEST(HostileHeif, PartsThatAreTooMany) {
  const std::string refused = "in: damaged AVIF: it has pictures made of too many others";
  std::vector<SketchedItem> items{header_alone(100)};
  std::vector<SketchedReference> references;
  for (std::uint16_t i = 1; i <= 17; ++i) {
    items.push_back({i, "iden"});
    references.push_back({"dimg", i, {static_cast<std::uint16_t>(i < 17 ? i + 1 : 100)}});
  }
  EXPECT_EQ(refusal(1, items, references), refused);
  // Eleven of eleven of eleven of eleven of eleven.
  items = {header_alone(100)};
  references = {};
  for (std::uint16_t i = 1; i <= 5; ++i) {
    items.push_back(overlay_item(i, {0, 0, 0}, 8, 8, std::vector<std::pair<int, int>>(11)));
    references.push_back(
        {"dimg", i,
         std::vector<std::uint16_t>(11, static_cast<std::uint16_t>(i < 5 ? i + 1 : 100))});
  }
  EXPECT_EQ(refusal(1, items, references), refused);
}

TEST(HostileHeif, GridsAndOverlaysThatDoNotFit) {
  const SketchedItem coded = header_alone(2);
  const auto grid = [&](const SketchedItem& whole, const std::vector<std::uint16_t>& parts) {
    return refusal(1, {whole, coded}, {{"dimg", 1, parts}});
  };
  EXPECT_EQ(grid(grid_item(1, 1, 2, 128, 64), {2}),
            "in: damaged AVIF: a grid has more or fewer tiles than cells");
  EXPECT_EQ(grid(grid_item(1, 1, 2, 129, 64), {2, 2}),
            "in: damaged AVIF: a grid is not covered by its tiles");
  EXPECT_EQ(grid(grid_item(1, 1, 2, 64, 64), {2, 2}),
            "in: damaged AVIF: a grid has tiles outside of it");
  EXPECT_EQ(grid(overlay_item(1, {0, 0, 0}, 64, 64, {{0, 0}}), {2, 2}),
            "in: damaged AVIF: an overlay does not say where its parts are");
  EXPECT_EQ(grid(overlay_item(1, {0, 0, 0}, 0, 64, {{0, 0}}), {2}),
            "in: damaged AVIF: its width or height is 0");
  EXPECT_EQ(grid({1, "iden"}, {2, 2}),
            "in: damaged AVIF: a picture in it is a copy of several others");
}

TEST(HostileHeif, CodedPicturesWithoutDataOrHeader) {
  SketchedItem coded = header_alone(1);
  coded.data.clear();
  EXPECT_EQ(refusal(1, {coded}), "in: damaged AVIF: the data of a picture in it is missing");
  coded.data = {0x12, 0};
  EXPECT_EQ(refusal(1, {coded}), "in: damaged AVIF: a picture in it has no header");
  coded = header_alone(1);
  coded.properties = {{"clap", Bytes(32, 0)}};
  EXPECT_EQ(refusal(1, {coded}),
            "in: damaged AVIF: a picture in it lacks its decoder's configuration");
  coded = header_alone(1);
  coded.properties.emplace_back("clap", Bytes(32, 0));
  EXPECT_EQ(refusal(1, {coded}), "in: damaged AVIF: it is cropped to nothing");
  // Refused before they are decoded.
  const std::vector<std::pair<int, int>> many(60000);
  EXPECT_EQ(
      why_refused(heif_file("avif", 1, {overlay_item(1, {0, 0, 0}, 64, 64, many), header_alone(2)},
                            {{"dimg", 1, std::vector<std::uint16_t>(60000, 2)}}),
                  {.max_pixels = 1'000'000}),
      "in: its parts have 245760000 pixels, too many for the limit of 1000000: raise it "
      "with --max-pixels");
}

// Shared data would be read again and again.
TEST(HostileHeif, PicturesWithTheirDataInCommon) {
  std::vector<SketchedItem> items{overlay_item(1, {0, 0, 0}, 64, 64, {{0, 0}})};
  std::vector<std::uint16_t> parts;
  for (std::uint16_t id = 2; id < 10; ++id) {
    items.push_back({id, "av01", {}, header_alone(id).properties});  // no length: all that follows
    parts.push_back(id);
  }
  items.push_back({10, "mime", header_alone(10).data});
  items.back().data.resize(100'000);
  EXPECT_EQ(refusal(1, items, {{"dimg", 1, parts}}),
            "in: damaged AVIF: its pictures have their data in common");
}

TEST(HostileHeif, SequencesWithoutAStillPicture) {
  Bytes file = box("ftyp", {'a', 'v', 'i', 's', 0, 0, 0, 0});
  const Bytes movie = box("moov", box("trak", {}));
  file.insert(file.end(), movie.begin(), movie.end());
  EXPECT_EQ(why_refused(file),
            "in: it has a sequence of pictures and no still one, which is not supported: save one "
            "of its pictures");
}

TEST(HostileHeif, ManyItemsTakeLittleTime) {
  std::vector<SketchedItem> items{header_alone(1)};
  std::vector<SketchedReference> references;
  for (std::uint16_t i = 2; i < 20'002; ++i) {
    items.push_back({i, "Exif", {0, 0, 0, 0, 'M', 'M', 0, 42}});
    references.push_back({"cdsc", i, {1}});
  }
  const Bytes file = heif_file("avif", 1, items, references);
  const std::clock_t start = std::clock();
  EXPECT_NE(why_refused(file), "");
  EXPECT_LT(static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC, 1);
}

TEST(HostileHeif, TheCaseOfAMissingPart) {
  GPUFILTER_REQUIRE_SHARED("cases/hostile-heic-overlay-of-missing-picture.heic");
  const std::string file =
      read_file(shared_path("cases/hostile-heic-overlay-of-missing-picture.heic"));
  EXPECT_EQ(why_refused({file.begin(), file.end()}),
            "in: damaged HEIC: a picture is missing in it");
}

// Other contents of HEIC and AVIF files besides the picture that is read.

Property auxiliary(const std::string& type) {
  Bytes content(4, 0);
  content.insert(content.end(), type.begin(), type.end());
  content.push_back(0);
  return {"auxC", content};
}

Names names(const Bytes& file) {
  return heif_contents(heif_items(file));
}

TEST(HeifContents, NamesPicturesAndMapsButNoPartsNorThumbnails) {
  EXPECT_EQ(names({}), Names{});
  EXPECT_EQ(names(heif_file("heic", 1, {{1, "hvc1"}})), Names{});
  const std::vector<SketchedItem> items{
      {1, "grid"},
      {2, "hvc1"},
      {3, "hvc1"},
      {4, "hvc1"},
      {5, "hvc1"},
      {6, "hvc1", {}, {is_alpha()}},
      {7, "hvc1", {}, {auxiliary("urn:mpeg:hevc:2015:auxid:2")}},
      {8, "hvc1", {}, {auxiliary("urn:com:apple:photo:2020:aux:hdrgainmap")}},
      {9, "hvc1", {}, {auxiliary("urn:com:apple:photo:2018:aux:portraiteffectsmatte")}},
      {10, "hvc1", {}, {}, true},
      {11, "Exif"},
      {12, "av01"},
      {13, "jpeg"}};
  EXPECT_EQ(names(heif_file("heic", 1, items,
                            {{"dimg", 1, {2, 3}},
                             {"thmb", 4, {1}},
                             {"auxl", 6, {1}},
                             {"auxl", 7, {1}},
                             {"auxl", 8, {1}},
                             {"auxl", 9, {1}}})),
            (Names{"3 more pictures", "a depth map", "a gain map", "an auxiliary picture"}));
  EXPECT_EQ(names(heif_file("avif", 1, {{1, "av01"}, {2, "av01", {}, {}, true}, {3, "tmap"}},
                            {{"dimg", 3, {1, 2}}})),
            Names{"a gain map"});
}

TEST(HeifContents, NamesSequencesAndFilms) {
  const auto track = [](const std::string& handler, std::uint8_t samples) {
    Bytes kind(8, 0);
    kind.insert(kind.end(), handler.begin(), handler.end());
    const Bytes sizes = box("stsz", {0, 0, 0, 0, 0, 0, 0, 9, 0, 0, 0, samples});
    Bytes media = box("hdlr", kind);
    const Bytes information = box("minf", box("stbl", sizes));
    media.insert(media.end(), information.begin(), information.end());
    return box("trak", box("mdia", media));
  };
  const auto with = [](const std::vector<Bytes>& boxes) {
    Bytes file = heif_file("avif", 1, {{1, "av01"}});
    for (const Bytes& one : boxes)
      file.insert(file.end(), one.begin(), one.end());
    return file;
  };
  EXPECT_EQ(names(with({box("moov", track("pict", 24))})), Names{"a sequence of 24 frames"});
  EXPECT_EQ(names(with({box("moov", track("auxv", 24))})), Names{});
  EXPECT_EQ(names(with({box("moov", track("vide", 9)), box("moov", track("soun", 9))})),
            (Names{"a film", "sound"}));
  EXPECT_EQ(names(with({box("mpvd", {0, 1, 2})})), Names{"a film"});
}

}  // namespace
}  // namespace gpufilter::test
