// consumer INPUT OUTPUT [DEVICE]: filters a picture with the installed library, in memory, from
// file to file and on threads; the results have to agree.
#include <algorithm>
#include <array>
#include <exception>
#include <iostream>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <gpufilter/gpufilter.hpp>

static_assert(GPUFILTER_VERSION_MAJOR >= 1);

namespace {

using namespace std;
using namespace gpufilter;

// Names of stages that the standard library has too; text, enumerators and data as values.
vector<StageUse> nine_stages() {
  static constexpr array<float, 6> negative{1, 1, 1, 0, 0, 0};
  const array<uint8_t, 12> pixels{};
  const Picture badge(view_of(span(pixels), 2, 2));
  return {blur{.border = choice::border::wrap},
          stages::swap{"bgr"},
          stages::rotate{180},
          mlp{mlp_network(vector<MlpLayer>{{{0, 0, 1, 0, 1, 0, 1, 0, 0}, {0, 0, 0}}})},
          lut{.value = color_table(vector<float>(24, 0.5F), 2), .lut_strength = 0.2},
          lut{color_curves(negative)},
          overlay{.value = badge, .at = "center"},
          edges{choice::edges::sobel},
          convolve{matrix_text(array{1., 2., 1.}, 3)}};
}

// Eight threads, each of which uses its own filter and one that all share.
void filter_on_threads(string_view path, const string& device) {
  const Picture before = read(path);
  const PictureFilter shared(nine_stages(), device);
  const Picture expected = PictureFilter(nine_stages(), "cpu").run(before);
  array<bool, 8> right{};
  vector<thread> threads;
  for (size_t i = 0; i < right.size(); ++i) {
    threads.emplace_back([&, i] {
      const PictureFilter own(nine_stages(), i % 2 == 0 ? device : "cpu");
      const auto is_right = [&](const PictureFilter& filter) {
        return compare(filter.run(before), expected).verdict == Differences::Verdict::equal;
      };
      right[i] = is_right(own) && is_right(shared);
    });
  }
  for (thread& each : threads)
    each.join();
  if (ranges::count(right, true) != 8) throw Error("threads differ");
}

// Uses what the library exports, so that nothing is missing.
void filter(const std::string& input, const std::string& output, const std::string& device) {
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
  const Picture part = read_part(input, {.region = "60x40+1+2", .size = "50%"});
  const Picture half = PictureFilter({{"resize", "50%"}}).run(copy);
  if (compare(after, copy).verdict != Differences::Verdict::equal || half.icc() != before.icc() ||
      part.shape() != Shape{30, 20, 3, 8} ||
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
    const string device = argc == 4 ? argv[3] : "auto";
    filter(argv[1], argv[2], device);
    filter_on_threads(argv[1], device);
    return 0;
  } catch (const gpufilter::Error& error) {
    std::cerr << error.what() << "\n";
    return 1;
  }
}
