// before_after INPUT OUTPUT WORDS...: a picture beside what stages make of it, in an array of this
// program. Example: before_after in.jpg both.png --blur auto --color sepia
#include <cstdint>
#include <exception>
#include <iostream>
#include <string>
#include <vector>

#include <gpufilter/gpufilter.hpp>

namespace {

void draw(const std::string& input, const std::string& output,
          const std::vector<std::string>& words) {
  const gpufilter::Picture before = gpufilter::read(input);
  const gpufilter::PictureFilter filter(gpufilter::parse_stages(words));
  const gpufilter::Shape after = filter.result_shape(before.shape());
  if (after != before.shape()) throw gpufilter::UsageError("choose stages that keep the size");

  // Rows of both pictures, one beside the other: each is a view of every other half of a row.
  const std::size_t row = before.pitch();
  std::vector<std::uint16_t> both(row * static_cast<std::size_t>(after.height));
  auto* memory = reinterpret_cast<std::uint8_t*>(both.data());
  const auto half = [&](std::size_t offset) {
    return gpufilter::View{memory + offset, after.width, after.height,
                           after.channels,  after.depth, 2 * row};
  };
  gpufilter::PictureFilter({}).run(before, half(0));
  const gpufilter::FilterResult result = filter.run(before, half(row));

  const gpufilter::ConstView all{memory, 2 * after.width, after.height, after.channels,
                                 after.depth};
  gpufilter::write(output, all);
  std::cout << result.device << " (" << result.reason << "), " << result.seconds * 1e3 << " ms\n";
  for (const auto& channel : gpufilter::stats(half(row)).channels)
    std::cout << channel.name << ": mean " << channel.mean << "\n";
}

}  // namespace

int main(int argc, char** argv) {
  gpufilter::answer_probes(argc, argv);
  if (argc < 4) {
    std::cerr << "before_after INPUT OUTPUT WORDS...\n";
    return 2;
  }
  gpufilter::set_log([](gpufilter::LogLevel, std::string_view line) { std::cerr << line << "\n"; });
  try {
    draw(argv[1], argv[2], {argv + 3, argv + argc});
    return 0;
  } catch (const std::exception& error) {
    std::cerr << error.what() << "\n";
    return 1;
  }
}
