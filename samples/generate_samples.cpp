// Writes the pictures of samples/ into a folder: generate_samples FOLDER [PNG_LEVEL].
// The level is 9 unless it is given; the pictures are the same with each.
#include <exception>
#include <iostream>
#include <memory>
#include <string>

#include "codec/formats.hpp"
#include "generator/pictures.hpp"

namespace {

void write_picture(const gpufilter::Image& image, const std::string& path,
                   const std::string& png_level) {
  const gpufilter::Codec& format = gpufilter::codec_for_output(path);
  const std::unique_ptr<gpufilter::ByteSink> sink = gpufilter::open_sink(path);
  gpufilter::PictureHeader header;
  header.file_format = &format;
  header.size = image.size();
  header.format = image.format();
  gpufilter::WriteOptions options;
  options.set(gpufilter::quality_option(), "88").set(gpufilter::png_level_option(), png_level);
  const auto writer = gpufilter::create_picture(format, *sink, header, options);
  writer->write(image.rows());
  writer->finish({});
  sink->commit();
}

void write_pictures(const std::string& folder, const std::string& png_level) {
  const auto write = [&](const gpufilter::Image& image, const char* name) {
    write_picture(image, folder + name, png_level);
  };
  write(gpufilter::samples::draw_badge(), "/badge-alpha.png");
  write(gpufilter::samples::draw_gradient(), "/gradient-16bit.png");
  const gpufilter::Image landscape = gpufilter::samples::draw_landscape();
  write(landscape, "/landscape.png");
  write(landscape, "/landscape.jpg");
  write(gpufilter::samples::to_small_grey(landscape), "/grey.png");
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2 && argc != 3) {
    std::cerr << "usage: generate_samples FOLDER [PNG_LEVEL]\n";
    return 2;
  }
  try {
    write_pictures(argv[1], argc == 3 ? argv[2] : "9");
  } catch (const std::exception& failure) {
    std::cerr << "generate_samples: " << failure.what() << '\n';
    return 1;
  }
  return 0;
}
