// Runs the program on folders of pictures as users do.
#pragma once

#include <map>

#include "base/abandoned_files.hpp"
#include "base/format.hpp"
#include "cli/filter_fixture.hpp"

namespace gpufilter::test {

class BatchTest : public FilterTest {
 protected:
  using Files = std::map<std::string, std::string>;  // bytes by relative path

  void SetUp() override { std::filesystem::create_directory(in_); }

  // A random picture in the input folder; the name decides its format.
  void put(const std::string& name, ImageSize size = {37, 29}) const {
    const std::filesystem::path path = std::filesystem::path(in_) / name;
    std::filesystem::create_directories(path.parent_path());
    write_picture(random_image(size, format_, std::hash<std::string>{}(name)).rows(), path);
  }

  void put_many(int count, ImageSize size = {37, 29}) const {
    for (int i = 0; i < count; ++i)
      put(formatted("p{}.png", 100 + i), size);
  }

  // Blurs everything from in_ to out_ on the reference, with the options `more`.
  [[nodiscard]] std::vector<std::string> command(const std::vector<std::string>& more) const {
    std::vector<std::string> words{in_, out_, "--blur", "auto", "--device", "cpu"};
    words.insert(words.end(), more.begin(), more.end());
    return words;
  }

  [[nodiscard]] ProcessResult batch(const std::vector<std::string>& more = {},
                                    const ProcessOptions& options = {}) const {
    return filter(command(more), options);
  }

  // Runs a batch that has to succeed.
  [[nodiscard]] ProcessResult good_batch(const std::vector<std::string>& more = {}) const {
    ProcessResult result = ended(0, batch(more));
    return result;
  }

  // The document that --json prints; the run ends with `exit_code`.
  [[nodiscard]] Json json_batch(std::vector<std::string> more = {}, int exit_code = 0) const {
    more.emplace_back("--json");
    const ProcessResult result = ended(exit_code, batch(more));
    EXPECT_TRUE(Json::accept(result.out)) << result.out;
    return Json::parse(result.out, nullptr, false);
  }

  [[nodiscard]] static std::vector<std::string> statuses(const Json& document) {
    std::vector<std::string> all;
    for (const Json& picture : document["pictures"])
      all.push_back(picture["status"]);
    return all;
  }

  // Expects a refusal: exit code 2, one line with `parts`, no output.
  void expect_refusal(const std::vector<std::string>& more,
                      const std::vector<std::string>& parts) const {
    const Files before = everything_in(folder_.path());
    const ProcessResult result = ended(2, batch(more));
    EXPECT_EQ(result.out, "");
    expect_one_line(result.err, parts);
    EXPECT_EQ(everything_in(folder_.path()), before);
  }

  // Everything in the folder; names of folders end in a slash, those of other things in a question
  // mark.
  [[nodiscard]] static Files everything_in(const std::filesystem::path& folder) {
    Files files;
    if (!std::filesystem::exists(folder)) return files;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
      const std::string name = entry.path().lexically_relative(folder);
      if (entry.is_symlink() || (!entry.is_directory() && !entry.is_regular_file())) {
        files[name + "?"];
      } else if (entry.is_directory()) {
        files[name + "/"];
      } else {
        files[name] = read_file(entry.path());
      }
    }
    return files;
  }

  // Without the journals and the folders.
  [[nodiscard]] static Files results_in(const std::filesystem::path& folder) {
    Files files = everything_in(folder);
    std::erase_if(files, [](const auto& file) {
      return file.first.ends_with('/') || file.first.ends_with(".gpufilter-journal");
    });
    return files;
  }

  [[nodiscard]] static std::vector<std::string> names_of(const Files& files) {
    std::vector<std::string> names;
    for (const auto& [name, bytes] : files)
      names.push_back(name);
    return names;
  }

  // The bytes of an undisturbed run, in a separate folder.
  [[nodiscard]] Files undisturbed(std::vector<std::string> more = {}) const {
    const TemporaryFolder elsewhere;
    std::vector<std::string> words = command(more);
    words[1] = elsewhere / "out";
    const ProcessResult result = ended(0, filter(words));
    return results_in(words[1]);
  }

  // Whether every file in `files` is also in `expected` with the same bytes, so that none is
  // unfinished.
  [[nodiscard]] static ::testing::AssertionResult all_whole(const Files& files,
                                                            const Files& expected) {
    for (const auto& [name, bytes] : files) {
      if (is_temporary_name(std::filesystem::path(name).filename().native())) continue;
      const auto whole = expected.find(name);
      if (whole == expected.end()) return ::testing::AssertionFailure() << name << " is new";
      if (whole->second != bytes) return ::testing::AssertionFailure() << name << " differs";
    }
    return ::testing::AssertionSuccess();
  }

  std::string in_ = folder_ / "in";
  std::string out_ = folder_ / "out";
};

}  // namespace gpufilter::test
