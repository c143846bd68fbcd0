// What reads metadata, and the texts of users, of a cluster's processes and of earlier runs. Each
// either takes what it is given or refuses it in one line.
#include <algorithm>
#include <cmath>

#include <gpufilter/filter.hpp>

#include "base/error.hpp"
#include "base/json.hpp"
#include "batch/journal.hpp"
#include "batch/output_name.hpp"
#include "batch/picture_list.hpp"
#include "batch/shard_run.hpp"
#include "device/program_cache.hpp"
#include "device/stores.hpp"
#include "fuzz/mutate.hpp"
#include "host/instruction_set.hpp"
#include "image/exif.hpp"
#include "image/icc.hpp"
#include "stage/options/recipe.hpp"
#include "stages/colour/color.hpp"
#include "stages/colour/color_profile.hpp"
#include "stages/expression/program.hpp"
#include "stages/point/lut.hpp"
#include "stages/point/tone_curve.hpp"
#include "support/coding.hpp"
#include "support/temporary_folder.hpp"
#ifdef GPUFILTER_HAS_HEIF
#include "codec/heif/tree.hpp"
#endif

namespace gpufilter::test {
namespace {

Bytes bytes_of(std::string_view text) {
  return {text.begin(), text.end()};
}

std::string text_of(const Bytes& bytes) {
  return {bytes.begin(), bytes.end()};
}

// What is wrong if use() refuses in another way than a line for the user.
template <typename Use>
std::string refusal_in_one_line(const Use& use) {
  std::string reason;
  try {
    return use();
  } catch (const Error& error) {
    reason = error.what();
  } catch (const UnusableProfile& error) {
    reason = error.what();
  } catch (const NoIccCurves& error) {
    reason = error.what();
  } catch (const RefusedColors& error) {
    reason = error.what();
  }
  return reason.empty() || reason.find('\n') != std::string::npos ? "not one line: '" + reason + "'"
                                                                  : "";
}

using Check = std::string (*)(const Bytes& bytes);

FuzzTarget target(const char* name, std::vector<Bytes> seeds, Check check) {
  return {name, std::move(seeds), change_anywhere, [check](const Bytes& bytes) {
            return refusal_in_one_line([&] { return check(bytes); });
          }};
}

FuzzTarget text_target(const char* name, const Words& seeds, Check check) {
  std::vector<Bytes> files;
  std::transform(seeds.begin(), seeds.end(), std::back_inserter(files), bytes_of);
  return target(name, files, check);
}

// ---- Metadata ----

std::string check_exif(const Bytes& bytes) {
  Metadata metadata;
  metadata.exif = bytes;
  static_cast<void>(exif_summary(bytes));
  remove_exif_thumbnail(metadata.exif);
  remove_exif_location(metadata.exif);
  set_exif_color_space(metadata, true);
  set_exif_size(metadata, {12345, 678});
  for (const int orientation : {6, 1, 8}) {
    set_orientation(metadata, orientation);
    if (stored_orientation(metadata).value_or(1) != orientation) return "the orientation is lost";
  }
  return "";
}

std::string check_xmp(const Bytes& bytes) {
  Bytes xmp = bytes;
  set_xmp_number(xmp, "tiff:Orientation", 3);
  if (xmp_number(xmp, "tiff:Orientation").value_or(3) != 3) return "the number is lost";
  remove_announced_parts(xmp);
  Metadata metadata;
  metadata.xmp = xmp;
  remove_location(metadata);
  return "";
}

std::string check_resources(const Bytes& bytes) {
  Bytes resources = bytes;
  remove_resource_thumbnails(resources);
  Bytes again = resources;
  remove_resource_thumbnails(again);
  return again == resources ? "" : "a thumbnail is left";
}

std::string check_profile(const Bytes& bytes) {
  static_cast<void>(icc_color_space(bytes));
  static_cast<void>(icc_primaries(bytes));
  Metadata metadata;
  metadata.icc_profile = IccProfile{"icc", bytes};
  for (const TransferCurve& curve : light_curves(metadata).colors) {
    if (!is_rising(curve)) return "a curve that does not rise";
  }
  static_cast<void>(name_of(*metadata.icc_profile));
  return colors_of(*metadata.icc_profile) == ProfileColors::rgb && icc_curves(bytes).empty() ? "?"
                                                                                             : "";
}

#ifdef GPUFILTER_HAS_HEIF
std::string check_boxes(const Bytes& bytes) {
  const HeifItems items = heif_items(bytes);
  static_cast<void>(heif_contents(items));
  for (const auto& [id, item] : items.items) {
    if (items.data(item).size() > bytes.size()) return "an item longer than the file";
  }
  static_cast<void>(heif_picture(items, "in", "HEIC", {.max_pixels = 1'000'000, .warn = false}));
  return "";
}

std::vector<Bytes> box_files() {
  std::vector<Bytes> files;
  for (const Codec* codec : codecs()) {
    if (codec->name == "HEIC" || codec->name == "AVIF")
      files.push_back(
          encode(*codec, random_image({40, 30}, {4, 8}, 1), {}, metadata_of_every_kind(6)).file);
  }
  return files;
}
#endif

std::vector<FuzzTarget> of_metadata() {
  const Metadata metadata = metadata_of_every_kind(6);
  const std::string xmp =
      R"(<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="r"><rdf:Description tiff:Orientation="6")"
      R"( exif:GPSLatitude="1,2N" GCamera:MotionPhoto="1"><exif:PixelXDimension>9</exif:PixelXDimension>)"
      R"(<Container:Directory><rdf:Seq><rdf:li Item:Mime="image/jpeg"/></rdf:Seq></Container:Directory>)"
      R"(</rdf:Description></rdf:RDF></x:xmpmeta>)";
  std::vector<FuzzTarget> all{
      target("exif", {metadata.exif}, check_exif),
      target("xmp", {metadata.xmp, bytes_of(xmp)}, check_xmp),
      target("iptc", {metadata.image_resources}, check_resources),
      target("icc", {metadata.icc_profile->data, srgb_profile().data}, check_profile)};
#ifdef GPUFILTER_HAS_HEIF
  all.push_back(target("boxes", box_files(), check_boxes));
#endif
  return all;
}

// ---- What users write ----

std::string check_cube(const Bytes& bytes) {
  const Cube cube = parse_cube(text_of(bytes), "fuzz.cube");
  for (const CubeColor& color : cube.colors) {
    for (const float value : color) {
      if (!std::isfinite(value)) return "a colour that is not finite";
    }
  }
  return "";
}

std::string check_hald(const Bytes& bytes) {
  static const TemporaryFolder folder;
  const std::string path = folder / "table.ppm";
  write_file(path, text_of(bytes));
  static_cast<void>(read_cube(path, {.max_pixels = 1'000'000, .warn = false}));
  return "";
}

std::string check_matrix(const Bytes& bytes) {
  static_cast<void>(parse_color_matrix(text_of(bytes), "fuzz.txt"));
  return "";
}

std::string check_curves(const Bytes& bytes) {
  const ToneCurves curves = parse_photoshop_curves(bytes, "fuzz.acv");
  for (const auto* curve : {&curves.all, &curves.colors[0], &curves.colors[1], &curves.colors[2]}) {
    if (!*curve) continue;
    for (const CubicCurve::Point& point : (*curve)->points()) {
      if ((*curve)->at(point.x) != point.y) return "a curve misses its points";
    }
    for (int x = 0; x <= 1000; ++x) {
      if (!std::isfinite((*curve)->at(x / 1000.0))) return "a curve is not finite";
    }
  }
  return "";
}

std::string check_pixel(const Bytes& bytes) {
  for (const PixelFormat& format : {PixelFormat{1, 8}, PixelFormat{4, 16}}) {
    const PixelProgram program =
        parse_pixel_program(text_of(bytes), {.source = format, .place = "fuzz"});
    const Image image = random_image({19, 1}, format, bytes.size());
    Image result(image.size(), program.target);
    run_pixel_program(image.rows(), result.rows(), program);
    const BaselineOnThisThread baseline;
    Image plain(image.size(), program.target);
    run_pixel_program(image.rows(), plain.rows(), program);
    if (!same_pixels(plain, result)) return "the baseline gives other samples";
  }
  return "";
}

std::string check_recipe(const Bytes& bytes) {
  const auto words = recipe_words(text_of(bytes), "fuzz.recipe");
  const bool in_order = std::is_sorted(
      words.begin(), words.end(), [](const auto& a, const auto& b) { return a.line < b.line; });
  return in_order ? "" : "lines out of order";
}

std::string check_template(const Bytes& bytes) {
  const NameTemplate name(text_of(bytes));
  const std::string result = name.name_for({"a/b.c.png", nullptr});
  const bool leaves =
      result.starts_with('/') || ("/" + result + "/").find("/../") != std::string::npos;
  return leaves ? "the name leaves the folder: " + result : "";
}

std::string check_list(const Bytes& bytes) {
  const PictureList list(text_of(bytes), "fuzz.txt", "/nonexistent");
  const PictureList again(list.text(), "fuzz.txt", "/nonexistent");
  return again.text() == list.text() ? "" : "another list when written and read back";
}

std::string check_stages(const Bytes& bytes) {
  const PictureFilter filter(parse_stages(text_of(bytes)), "cpu");
  return "";
}

std::vector<FuzzTarget> of_users() {
  const std::string hald = [] {
    std::string file = "P6 8 8 255\n";
    for (int i = 0; i < 192; ++i)
      file += static_cast<char>(i);
    return file;
  }();
  return {
      text_target(
          "cube",
          {"TITLE \"a\"\nLUT_3D_SIZE 2\nDOMAIN_MIN 0 0 0\nDOMAIN_MAX 1 1 1\n0 0 0\n1 0 0\n0 "
           "1 0\n1 1 "
           "0\n0 0 1\n1 0 1\n0 1 1\n1 1 1\n",
           "# c\nLUT_1D_SIZE 3\nLUT_1D_INPUT_RANGE 0.0 2e0\n0 0 0\n.5 .25 1\n1 1 1\n"},
          check_cube),
      text_target("hald", {hald}, check_hald),
      text_target("matrix", {"1 0 0\n0 1 0\n0 0 1\n", "# m\n.3 -.5e1, 0.1 2;0 1 0 0;0,0,1,0\n"},
                  check_matrix),
      target("acv",
             {{0, 4,   0, 2,   0, 3, 0, 0, 0, 0, 0, 120, 0, 100,
               0, 255, 0, 255, 0, 2, 0, 9, 0, 0, 0, 200, 0, 255},
              {0, 1, 0, 1, 0, 2, 0, 255, 0, 0, 0, 0, 0, 255}},
             check_curves),
      text_target("pixel",
                  {"# a\nr = 1.1*r - 0.05*g; b = curve(b, 0 0.1 0.5 0.6 1 1)",
                   "y = luma(r, g, b) / 2; rgb = fma(-1.3, rgb - y, y); a = clamp(a, 0.2, 0.7);",
                   "gray = table(min(gray, a, 1e3), 0 .2 -7 1)",
                   "rgb = select(gray <= 5e-1, max(rgb, .1), select(rgb != 1, 0, -(1 - rgb)))"},
                  check_pixel),
      text_target("recipe",
                  {"--blur auto # soft\n--pad '1 2' \"a\\\"b\" c\\ d \\\n  e\n", "@other --to png"},
                  check_recipe),
      text_target("template", {"{stem}-{ext}.{to}", "{parent}/{name}.png", "a{{b}}/{stem}.jpg"},
                  check_template),
      text_target("list",
                  {std::string("12\ta.png\0"
                               "7\tb/c.jpg\0",
                               19),
                   "a.png\nb/c.jpg\nd.gif\n"},
                  check_list),
      text_target(
          "stages",
          {"blur auto --border mirror gaussian 1.5 color sepia=0.5", "levels 3,200 --crop 3x4+1+2",
           "--resize 50% --sharpen 1 convolve '0 1 0; 1 -4 1; 0 1 0' rotate 90 flip",
           "median 2 linear tonemap reinhard encoded text 'a b' --pad 3 curves 0,0;255,255"},
          check_stages)};
}

// ---- What the program keeps, and what clusters say ----

std::string check_json(const Bytes& bytes) {
  const auto json = Json::parse(text_of(bytes));
  if (!json) return "";
  const auto again = Json::parse(json->on_one_line());
  return again && again->on_one_line() == json->on_one_line() ? "" : "another value when read back";
}

std::string check_journal(const Bytes& bytes) {
  const TemporaryFolder folder;
  write_file(folder / journal_name, text_of(bytes));
  const JournalRecords records = read_journal(folder.path());
  static_cast<void>(read_last_run(folder.path()));
  for (const auto& [output, record] : records) {
    const auto again = parse_journal_line(journal_line(output, record));
    if (!again || again->first != output || again->second != record) return "a record is lost";
  }
  Journal writer(folder.path());
  return read_journal(folder.path()) == records ? "" : "the journal holds other records";
}

std::string check_shards(const Bytes& bytes) {
  const TemporaryFolder folder;
  const fs::path own = folder.path() / shards_name;
  fs::create_directory(own);
  write_file(own / "0-of-2-0123456789abcdef", text_of(bytes));
  static_cast<void>(read_shard_journals(folder.path(), [](const Shard&) { return true; }));
  write_file(own / "run", text_of(bytes));
  if (const auto run = read_shard_run(folder.path()))
    static_cast<void>(read_run_listing(folder.path(), *run));
  return "";
}

// What a run of shards writes: the run, and a journal.
std::vector<Bytes> shard_files() {
  const TemporaryFolder folder;
  const PictureList listing({{"a.png", 3}, {"b/c.jpg", 4}});
  ShardRun run{};
  run.listing = content_hash(listing.text());
  run.input = "in dir";
  run.works.emplace_back();
  static_cast<void>(publish_shard_run(folder.path(), run, listing));
  {
    const auto journal = begin_shard_journal(folder.path(), {0, 2});
    journal->add("a.png", {});
    note_failure(*journal, "b/c.jpg", "in/b/c.jpg: is damaged");
    note_end(*journal);
  }
  std::vector<Bytes> files;
  for (const auto& entry : fs::directory_iterator(folder.path() / shards_name)) {
    if (!entry.path().filename().string().starts_with("listing"))
      files.push_back(file_bytes(entry.path()));
  }
  return files;
}

// Mostly behind the checksums of lines.
void change_sealed(Bytes& file, const Bytes& other, Mutator& mutator) {
  if (mutator.one_in(4)) return change_anywhere(file, other, mutator);
  const std::string text = text_of(file);
  std::string changed;
  for (const std::string_view line : split(text, '\n')) {
    const auto content = unsealed(line);
    if (!content) continue;
    Bytes bytes = bytes_of(*content);
    if (mutator.one_in(2)) mutator.change(bytes, other);
    changed += sealed(text_of(bytes)) + "\n";
  }
  file = bytes_of(changed);
}

FuzzTarget sealed_target(const char* name, std::vector<Bytes> seeds, Check check) {
  FuzzTarget made = target(name, std::move(seeds), check);
  made.mutate = change_sealed;
  return made;
}

std::string check_environment(const Bytes& bytes) {
  Environment environment;
  const std::string text = text_of(bytes);
  for (const std::string_view line : split(text, '\n')) {
    const std::size_t at = std::min(line.find('='), line.size());
    environment[std::string(line.substr(0, at))] = line.substr(std::min(at + 1, line.size()));
  }
  const Shard shard = detect_shard(environment).shard;
  return shard.index < shard.count ? "" : "a shard that does not exist: " + to_string(shard);
}

std::string check_stores(const Bytes& bytes) {
  const TemporaryFolder folder;
  const fs::path file = folder.path() / "store";
  write_file(file, text_of(bytes));
  RateStore rates(file);
  const auto rate = rates.find("p", "k");
  if (rate && !(*rate > 0 && std::isfinite(*rate))) return "an impossible rate";
  TuningStore tuning(file);
  static_cast<void>(tuning.find("p", {}));
  rates.learn("p", "k", 1);
  rates.save();
  tuning.save();
  const auto learned = RateStore(file).find("p", "k");
  return learned && *learned > 0 ? "" : "a damaged store learns nothing";
}

std::string check_programs(const Bytes& bytes) {
  const TemporaryFolder folder;
  const ProgramCache cache(folder.path());
  const std::vector<std::uint8_t> program{1, 2, 3, 4, 5, 6, 7, 8};
  if (!cache.store("key", program)) return "it cannot be stored";
  Bytes entry = file_bytes(cache.entry("key"));
  const Bytes whole = entry;
  // The bytes say how the stored entry is damaged: a place and a value each.
  for (std::size_t i = 0; i + 1 < bytes.size() && i < 8; i += 2)
    entry[bytes[i] % entry.size()] = bytes[i + 1];
  write_file(cache.entry("key"), text_of(entry));
  const auto loaded = cache.load("key");
  return loaded && (entry != whole || *loaded != program) ? "a damaged program is loaded" : "";
}

std::vector<FuzzTarget> of_files() {
  JournalRecord record;
  record.input_stamp.emplace();
  const std::string line = journal_line("a b/\xC3\xA9.png", record);
  return {
      text_target("json", {R"({"schema": "x", "a": [1, -2.5e3, null, true, "\u00e9\n"]})"},
                  check_json),
      sealed_target("journal", {bytes_of(line + "\n" + journal_line("c.png", record) + "\n")},
                    check_journal),
      sealed_target("shards", shard_files(), check_shards),
      text_target(
          "environment",
          {"SLURM_ARRAY_TASK_ID=3\nSLURM_ARRAY_TASK_MIN=1\nSLURM_ARRAY_TASK_MAX=7\nSLURM_ARRAY_"
           "TASK_"
           "STEP=2\nSLURM_ARRAY_TASK_COUNT=4",
           "OMPI_COMM_WORLD_RANK=1\nOMPI_COMM_WORLD_SIZE=4", "PARALLEL_SEQ=2\nPARALLEL_COUNT=3"},
          check_environment),
      text_target(
          "stores",
          {R"({"schema": "gpufilter-rates-1", "seconds": {"p": {"k": 0.5}}, "notes": {"n": "t"}})",
           R"({"schema": "gpufilter-tuning-1", "places": {"p": {}}})"},
          check_stores),
      text_target("programs", {"0a5b", "\x10\x20\x7f\x01"}, check_programs)};
}

std::vector<FuzzTarget> targets() {
  std::vector<FuzzTarget> all = of_metadata();
  for (auto& more : {of_users(), of_files()})
    all.insert(all.end(), more.begin(), more.end());
  return all;
}

}  // namespace
}  // namespace gpufilter::test

int main(int argc, char** argv) {
  using namespace gpufilter::test;
  return fuzz(argc, argv, targets());
}
