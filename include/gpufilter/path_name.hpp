// Paths as arguments.
#pragma once

#include <concepts>
#include <string>
#include <string_view>

namespace gpufilter {

// What can be a path: std::string, std::string_view, text in quotes, std::filesystem::path.
template <typename Text>
concept PathText = std::constructible_from<std::string, const Text&>;

// The path of a file or a folder, in memory of the caller.
class PathName {
 public:
  // From any text.
  template <PathText Text>
  PathName(const Text& text) {  // NOLINT(google-explicit-constructor): text is a path
    if constexpr (std::convertible_to<const Text&, std::string_view>) {
      text_ = text;
    } else {
      text_ = text.native();
    }
  }

  // The path.
  [[nodiscard]] std::string_view text() const { return text_; }
  // A copy of the path.
  operator std::string() const {  // NOLINT(google-explicit-constructor): as above
    return std::string(text_);
  }

 private:
  std::string_view text_;
};

}  // namespace gpufilter
