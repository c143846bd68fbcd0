// Writes the pictures of samples/ into a folder: generate_samples FOLDER.
#include <exception>
#include <iostream>
#include <memory>
#include <string>

#include "codec/jpeg/codec.hpp"
#include "codec/png/codec.hpp"
#include "generator/pictures.hpp"

namespace {

void write_picture(const gpufilter::Image& image, const std::string& path) {
  const gpufilter::Codec& format = gpufilter::codec_for_output(path);
  const std::unique_ptr<gpufilter::ByteSink> sink = gpufilter::open_sink(path);
  gpufilter::PictureHeader header;
  header.file_format = &format;
  header.size = image.size();
  header.format = image.format();
  gpufilter::WriteOptions options;
  options.set(gpufilter::quality_option(), "88").set(gpufilter::png_level_option(), "9");
  const auto writer = gpufilter::create_picture(format, *sink, header, options);
  writer->write(image.rows());
  writer->finish({});
  sink->commit();
}

void write_pictures(const std::string& folder) {
  write_picture(gpufilter::samples::draw_badge(), folder + "/badge-alpha.png");
  write_picture(gpufilter::samples::draw_gradient(), folder + "/gradient-16bit.png");
  const gpufilter::Image landscape = gpufilter::samples::draw_landscape();
  write_picture(landscape, folder + "/landscape.png");
  write_picture(landscape, folder + "/landscape.jpg");
  write_picture(gpufilter::samples::to_small_grey(landscape), folder + "/grey.png");
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::cerr << "usage: generate_samples FOLDER\n";
    return 2;
  }
  try {
    write_pictures(argv[1]);
  } catch (const std::exception& failure) {
    std::cerr << "generate_samples: " << failure.what() << '\n';
    return 1;
  }
  return 0;
}
