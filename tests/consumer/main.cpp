// consumer INPUT OUTPUT [DEVICE]: what a program needs to filter a picture with the installed library.
#include <exception>
#include <iostream>

#include <gpufilter/gpufilter.hpp>

int main(int argc, char** argv) {
  if (argc != 3 && argc != 4) return 2;
  try {
    gpufilter::PictureFilter filter({{"blur", "auto", {{"border", "mirror"}}}, {"color", "sepia"}},
                                    argc == 4 ? argv[3] : "auto");
    const auto result = filter.run(argv[1], argv[2], {{"png-level", "1"}});
    std::cout << result.width << "x" << result.height << " on " << result.device << "\n";
    return 0;
  } catch (const gpufilter::Error& error) {
    std::cerr << error.what() << "\n";
    return 1;
  }
}
