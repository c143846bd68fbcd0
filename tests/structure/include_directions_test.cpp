// Which folder of src/ may include which other, and which folder alone may use which library.
#include <algorithm>
#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "structure/source_files.hpp"

namespace gpufilter::test {
namespace {

using Lines = std::vector<std::string>;

// Each folder may include itself and those that it is listed after.
const std::map<std::string, std::set<std::string>>& known_folders() {
  using Folders = std::set<std::string>;
  static const auto folders = [] {
    std::map<std::string, Folders> known{{"base", {}},
                                         {"image", {"base"}},
                                         {"host", {"image", "base"}},
                                         {"codec", {"host", "image", "base"}},
                                         {"device", {"image", "base"}},
                                         {"compute", {"host", "device", "image", "base"}},
                                         {"chart", {"compute", "image", "base"}}};
    Folders below{"codec", "compute", "host", "device", "image", "base"};
    for (const char* folder : {"stage", "stages"}) {
      known[folder] = below;
      below.insert(folder);
    }
    known["net"] = below;
    below.insert("net");
    for (const char* folder : {"pipeline", "batch"}) {
      known[folder] = below;
      below.insert(folder);
    }
    known["compare"] = below;
    below.insert("compare");
    known["api"] = below;
    below.insert("chart");
    known["html"] = below;
    below.insert("html");
    known["lab"] = below;
    below.insert("lab");
    known["app"] = below;
    known["manual"] = {"app", "stage", "base"};
    return known;
  }();
  return folders;
}

struct Confinement {
  std::string header;           // the beginning of its name
  std::set<std::string> homes;  // folders, "codec/png" too, or single files
};

const std::vector<Confinement>& confinements() {
  static const std::vector<Confinement> list{
      {"xxhash.h", {"base/content_hash.cpp"}},
      {"png.h", {"codec/png"}},
      {"isa-l", {"codec/png", "codec/deflate", "codec/tiff/reader.cpp"}},
      {"libdeflate.h", {"codec/png", "codec/deflate", "codec/tiff/reader.cpp"}},
      {"zlib.h", {"codec/png", "device/program_cache.cpp"}},
      {"jpeglib.h", {"codec/jpeg"}},
      {"jerror.h", {"codec/jpeg"}},
      {"tiffio.h", {"codec/tiff"}},
      {"webp/", {"codec/webp"}},
      {"jxl/", {"codec/jxl"}},
      {"libheif/", {"codec/heif"}},
      {"CL/", {"device"}},
      {"CLI/", {"app"}},
      {"tbb/",
       {"base/background.cpp", "base/threads.cpp", "host/parallel.cpp",
        "pipeline/execute/band_pipeline.hpp"}},
      {"oneapi/", {}},
      {"nlohmann/", {"base/json.cpp", "net/pixel/network.cpp"}},
      {"protozero/", {"net/graph/onnx_model.cpp"}},
      {"spdlog/", {"base/log.cpp", "base/format.hpp"}},
      {"fmt/", {"base/format.hpp"}},
  };
  return list;
}

// "codec/png/write/writer.cpp" is at home in "codec", in "codec/png" and in itself.
bool is_at_home(const std::string& path, const std::string& home) {
  return path == home || path.starts_with(home + "/");
}

// Why `file` may not include `header`; empty if it may.
std::string objection(const SourceFile& file, const std::string& header, bool quoted) {
  for (const Confinement& confinement : confinements()) {
    if (header.rfind(confinement.header, 0) != 0) continue;
    const bool at_home =
        std::any_of(confinement.homes.begin(), confinement.homes.end(),
                    [&](const std::string& home) { return is_at_home(file.path, home); });
    return at_home ? "" : "belongs elsewhere";
  }
  if (!quoted) return "";
  const std::size_t slash = header.find('/');
  if (slash == std::string::npos) return "names no folder";
  const std::string target = header.substr(0, slash);
  const auto own = known_folders().find(file.folder());
  if (own == known_folders().end()) return "is included from an unknown folder";
  return target == own->first || own->second.count(target) > 0 ? "" : "is not known here";
}

// "path:line: "header" reason" for every include that breaks a rule.
Lines violations(const SourceFile& file) {
  static const std::regex include(R"(^\s*#\s*include\s*([<"])([^>"]+)[>"])");
  Lines found;
  std::istringstream lines(file.text);
  std::string line;
  for (int number = 1; std::getline(lines, line); ++number) {
    std::smatch match;
    if (!std::regex_search(line, match, include)) continue;
    const std::string why = objection(file, match[2], match[1] == "\"");
    if (!why.empty()) {
      found.push_back(file.path + ":" + std::to_string(number) + ": " + match[2].str() + " " + why);
    }
  }
  return found;
}

TEST(IncludeDirections, AllowWhatLiesBelow) {
  EXPECT_EQ(violations({"pipeline/run/run.cpp",
                        "#include <vector>\n"
                        "#include \"pipeline/run/run.hpp\"\n"
                        "#include \"codec/codec.hpp\"\n"
                        "#include \"device/session.hpp\"\n"
                        "#include \"base/error.hpp\"\n"}),
            Lines{});
}

TEST(IncludeDirections, RefuseWhatLiesAboveOrBeside) {
  EXPECT_EQ(violations({"codec/png_reader.cpp",
                        "// first line\n"
                        "#include \"device/session.hpp\"\n"
                        "  # include \"stages/window/blur.hpp\"  // why not\n"}),
            (Lines{"codec/png_reader.cpp:2: device/session.hpp is not known here",
                   "codec/png_reader.cpp:3: stages/window/blur.hpp is not known here"}));
  EXPECT_EQ(violations({"pipeline/run/run.cpp", "#include \"lab/random_data.hpp\"\n"}),
            (Lines{"pipeline/run/run.cpp:1: lab/random_data.hpp is not known here"}));
  EXPECT_EQ(violations({"base/log.cpp", "#include \"image/image.hpp\"\n"}),
            (Lines{"base/log.cpp:1: image/image.hpp is not known here"}));
  EXPECT_EQ(violations({"device/session.cpp", "#include \"codec/codec.hpp\"\r\n"}),
            (Lines{"device/session.cpp:1: codec/codec.hpp is not known here"}));
}

TEST(IncludeDirections, RefusePathsWithoutFolderAndUnknownFolders) {
  EXPECT_EQ(violations({"image/image.cpp", "#include \"image.hpp\"\n"}),
            (Lines{"image/image.cpp:1: image.hpp names no folder"}));
  EXPECT_EQ(violations({"image/image.cpp", "#include \"../codec/codec.hpp\"\n"}),
            (Lines{"image/image.cpp:1: ../codec/codec.hpp is not known here"}));
  EXPECT_EQ(violations({"attic/old.cpp", "#include \"base/error.hpp\"\n"}),
            (Lines{"attic/old.cpp:1: base/error.hpp is included from an unknown folder"}));
}

TEST(IncludeDirections, KeepForeignLibrariesBehindTheirInterface) {
  const std::string all =
      "#include <png.h>\n#include <jpeglib.h>\n#include <CL/opencl.hpp>\n"
      "#include \"CL/cl.h\"\n#include <CLI/CLI.hpp>\n#include <spdlog/spdlog.h>\n"
      "#include <fmt/core.h>\n#include <xxhash.h>\n#include <isa-l/crc.h>\n#include <isa-l.h>\n"
      "#include <libdeflate.h>\n#include <zlib.h>\n#include <jerror.h>\n"
      "#include <tbb/parallel_for.h>\n#include <oneapi/tbb.h>\n#include <nlohmann/json_fwd.hpp>\n";
  EXPECT_EQ(violations({"stages/window/blur.cpp", all}).size(), 16U);
  EXPECT_EQ(violations({"net/pixel/network.cpp", all}).size(), 15U);  // JSON
  EXPECT_EQ(violations({"codec/codec.cpp", all}).size(), 16U);
  EXPECT_EQ(violations({"codec/png/read/reader.cpp", all}).size(), 11U);  // all but libjpeg's
  EXPECT_EQ(violations({"codec/pngs/reader.cpp", all}).size(), 16U);
  EXPECT_EQ(violations({"codec/deflate/block.cpp", all}).size(), 13U);     // ISA-L, libdeflate
  EXPECT_EQ(violations({"codec/jpeg/read/reader.cpp", all}).size(), 14U);  // libjpeg's two
  EXPECT_EQ(violations({"device/session.cpp", all}).size(), 14U);          // OpenCL's two
  EXPECT_EQ(violations({"device/program_cache.cpp", all}).size(), 13U);    // and zlib
  EXPECT_EQ(violations({"app/options.cpp", all}).size(), 15U);             // CLI11
  EXPECT_EQ(violations({"lab/bench/report.cpp", all}).size(), 16U);
  EXPECT_EQ(violations({"base/json.cpp", all}).size(), 15U);      // JSON
  EXPECT_EQ(violations({"host/parallel.cpp", all}).size(), 15U);  // oneTBB
  EXPECT_EQ(violations({"base/log.cpp", all}).size(), 15U);
  EXPECT_EQ(violations({"base/format.hpp", all}).size(), 14U);
  EXPECT_EQ(violations({"base/error.hpp", all}).size(), 16U);
}

TEST(IncludeDirections, NameTheLineThatBringsAForeignLibrary) {
  EXPECT_EQ(violations({"pipeline/run/run.cpp", "#include <vector>\n#include <zlib.h>\n"}),
            Lines{"pipeline/run/run.cpp:2: zlib.h belongs elsewhere"});
}

TEST(IncludeDirections, HoldInEveryFile) {
  std::set<std::string> folders;
  for (const SourceFile& file : program_sources()) {
    folders.insert(file.folder());
    EXPECT_EQ(violations(file), Lines{});
  }
  for (const auto& [folder, below] : known_folders()) {
    EXPECT_EQ(folders.count(folder), 1U) << "no source files in src/" << folder;
  }
}

}  // namespace
}  // namespace gpufilter::test
