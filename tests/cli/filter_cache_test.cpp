// A cache that does not work costs time, never a picture.
#include <functional>
#include <tuple>

#include "cli/filter_fixture.hpp"

namespace gpufilter::test {
namespace {

namespace fs = std::filesystem;

class FilterCache : public FilterTest {
 protected:
  // Runs a blur, which has to succeed. Returns what the report says about its program: "compiled"
  // or "cache".
  [[nodiscard]] std::string program_of(const ProcessOptions& options,
                                       std::string* messages = nullptr) const {
    const ProcessResult result = ended(
        0, filter({in_, out_, "--blur", "naive", "--timing", "json", "--require-device"}, options));
    EXPECT_TRUE(same_pixels(read_picture(out_), blurred(image_)));
    fs::remove(out_);
    if (messages == nullptr) {
      EXPECT_EQ(result.err, "");
    } else {
      *messages = result.err;
    }
    return Json::parse(result.out)["passes"][0]["program"];
  }

  [[nodiscard]] std::vector<fs::path> cached_files() const {
    std::vector<fs::path> files;
    for (const auto& entry : fs::recursive_directory_iterator(cache_)) {
      if (entry.is_regular_file()) files.push_back(entry.path());
    }
    return files;
  }

  [[nodiscard]] ProcessOptions with(const std::string& name, const std::string& value) const {
    ProcessOptions options = own_cache_;
    options.environment[name] = value;
    return options;
  }

  const Image image_ = random_image(size_, format_, 1);
  const std::string in_ = stored(image_, "in.png");
  const std::string out_ = folder_ / "out.png";
  const std::string cache_ = folder_ / "cache";
  const ProcessOptions own_cache_{
      .environment = {{"XDG_CACHE_HOME", cache_}, {"TMPDIR", folder_.path()}}};
};

TEST_F(FilterCache, LeavesNoScratchFolder) {
  GPUFILTER_REQUIRE_DEVICE();
  forget_pocl_cache();
  EXPECT_EQ(program_of(own_cache_), "compiled");
  for (const std::string& name : names_in(fs::path(cache_) / "gpufilter")) {
    EXPECT_TRUE(name == "programs" || name == "rates.json" || name == "probes.json") << name;
  }
  EXPECT_EQ(names_in(folder_.path()), (std::vector<std::string>{"cache", "in.png"}));
}

TEST_F(FilterCache, KeepsProgramsForTheNextRunAndReplacesDamagedOnes) {
  GPUFILTER_REQUIRE_DEVICE();
  EXPECT_EQ(program_of(own_cache_), "compiled");
  EXPECT_FALSE(cached_files().empty());
  EXPECT_EQ(program_of(own_cache_), "cache");
  const std::vector<std::pair<const char*, std::function<void(const fs::path&)>>> damages{
      {"cut", [](const fs::path& file) { fs::resize_file(file, fs::file_size(file) / 2); }},
      {"garbage",
       [](const fs::path& file) { write_file(file, std::string(fs::file_size(file), '\x5a')); }},
  };
  for (const auto& [name, damage] : damages) {
    SCOPED_TRACE(name);
    for (const fs::path& file : cached_files())
      damage(file);
    EXPECT_EQ(program_of(own_cache_), "compiled");
    EXPECT_EQ(program_of(own_cache_), "cache") << "the damaged one was replaced";
  }
}

TEST_F(FilterCache, AFolderInAProgramsPlaceIsNoFailure) {
  GPUFILTER_REQUIRE_DEVICE();
  EXPECT_EQ(program_of(own_cache_), "compiled");
  for (const fs::path& file : cached_files()) {
    fs::remove(file);
    fs::create_directory(file);
  }
  EXPECT_EQ(program_of(own_cache_), "compiled");
}

TEST_F(FilterCache, PlacesThatCannotBeWrittenAreNoFailure) {
  GPUFILTER_REQUIRE_DEVICE();
  forget_pocl_cache();
  EXPECT_EQ(program_of(with("XDG_CACHE_HOME", in_)), "compiled");
  EXPECT_EQ(program_of(with("XDG_CACHE_HOME", "/proc/nowhere")), "compiled");
  EXPECT_EQ(names_in(folder_.path()), (std::vector<std::string>{"in.png"}));
}

TEST_F(FilterCache, NoHomeIsNoFailure) {
  GPUFILTER_REQUIRE_DEVICE();
  const ProcessResult result = ended(
      0, run_process({"env", "-u", "HOME", "-u", "XDG_CACHE_HOME", "-u", "POCL_CACHE_DIR",
                      GPUFILTER_PROGRAM, in_, out_, "--blur", "naive", "-q", "--require-device"},
                     {.environment = {{"TMPDIR", folder_.path()}}}));
  EXPECT_EQ(result.err, "");
  EXPECT_TRUE(same_pixels(read_picture(out_), blurred(image_)));
  EXPECT_EQ(names_in(folder_.path()), (std::vector<std::string>{"in.png", "out.png"}));
}

TEST_F(FilterCache, HomeStandsInForTheCacheFolder) {
  GPUFILTER_REQUIRE_DEVICE();
  ProcessOptions options = with("HOME", folder_ / "home");
  for (const std::string unusable : {"", "relative"}) {
    options.environment["XDG_CACHE_HOME"] = unusable;
    EXPECT_EQ(program_of(options), unusable.empty() ? "compiled" : "cache");
  }
  EXPECT_TRUE(fs::exists(folder_ / "home/.cache/gpufilter/programs"));
}

TEST_F(FilterCache, AnUnusablePoclCacheIsReplacedWithAWarning) {
  GPUFILTER_REQUIRE_DEVICE();
  std::string messages;
  EXPECT_EQ(program_of(with("POCL_CACHE_DIR", "/proc/nowhere"), &messages), "compiled");
  expect_one_line(messages, {"POCL_CACHE_DIR", "/proc/nowhere"});
  EXPECT_EQ(names_in(folder_.path()), (std::vector<std::string>{"cache", "in.png"}));
}

TEST_F(FilterCache, AUsablePoclCacheIsKept) {
  GPUFILTER_REQUIRE_DEVICE();
  EXPECT_EQ(program_of(with("POCL_CACHE_DIR", folder_ / "pocl")), "compiled");
  EXPECT_TRUE(fs::is_directory(folder_ / "pocl"));
}

}  // namespace
}  // namespace gpufilter::test
