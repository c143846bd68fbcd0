// consumer INPUT OUTPUT [DEVICE]: filters a picture with the installed library, in memory and from
// file to file; the results have to agree.
#include <exception>
#include <iostream>
#include <string>
#include <vector>

#include <gpufilter/gpufilter.hpp>

namespace {

// Uses what the library exports, so that nothing is missing.
void filter(const std::string& input, const std::string& output, const std::string& device) {
  using namespace gpufilter;
  set_log([](LogLevel, std::string_view line) { std::cerr << line << "\n"; });
  const PictureFilter filter({blur{.border = "mirror"}, color{"sepia"}}, {.device = device});
  const FormatOptions options{{"png-level", "1"}};
  const FilterResult result = filter.run(input, output, options);
  const Picture before = read(input);
  Picture after(filter.result_shape(before.shape()));
  filter.run(before, after.view());
  const Picture again =
      PictureFilter(parse_stages("--blur auto --border mirror --color sepia")).run(before);
  const PictureFilter same({{"blur", "auto", {{"border", "mirror"}}}, {"color", "sepia"}}, "cpu");
  Picture copy(same.result_shape(before));
  same.run(before, copy);
  copy.set_metadata(before.metadata());
  const auto bytes = encode("png", again, options);
  if (compare(after, copy).verdict != Differences::Verdict::equal ||
      PictureFilter({{"resize", "50%"}}).run(copy).icc() != before.icc() ||
      compare(after, read(output)).verdict != Differences::Verdict::equal ||
      compare(after, decode(bytes.data(), bytes.size())).verdict != Differences::Verdict::equal ||
      stats(after).channels[0].percentile(50) != stats(output).channels[0].percentile(50))
    throw Error("memory and files differ");
  try {
    const std::vector<StageUse> unknown{StageUse{"stipple", "1"}};
    static_cast<void>(PictureFilter(unknown));
    throw Error("an unknown stage was accepted");
  } catch (const UsageError&) {
  }
  std::cout << result.width << "x" << result.height << " on " << result.device << "\n";
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3 && argc != 4) return 2;
  try {
    filter(argv[1], argv[2], argc == 4 ? argv[3] : "auto");
    return 0;
  } catch (const gpufilter::Error& error) {
    std::cerr << error.what() << "\n";
    return 1;
  }
}
