#include "pipeline/run_description.hpp"

#include "base/format.hpp"

namespace gpufilter {

PictureTask picture_task(const PictureHeader& header, const StageChain& chain,
                         const Codec& output_format, std::uint64_t file_bytes) {
  return {.shape = {header.size, header.format},
          .chain = chain,
          .decoding = formatted("decode {}", header.file_format->name),
          .encoding = formatted("encode {}", output_format.name),
          .parallel_encoding = output_format.encodes_in_parallel,
          .file_bytes = file_bytes};
}

void describe_formats(RunReport& report, const PictureHeader& header, const StageChain& chain,
                      const Codec& output_format, const WriteOptions& options) {
  report.input_format = header.file_format;
  report.output_format = &output_format;
  report.size = header.size;
  report.input_pixel = header.format;
  report.output_pixel = header.format;
  for (const auto& stage : chain) {
    if (std::string doubt = stage->doubt(report.output_pixel); !doubt.empty())
      report.doubts.push_back(std::move(doubt));
    report.output_pixel = stage->output_format(report.output_pixel);
  }
  report.input_file_pixels = header.file_pixels;
  report.output_file_pixels = pixels_in_file(output_format, report.output_pixel);
  if (!output_format.holds_alpha && report.output_pixel.has_alpha())
    report.background = options.get<Color>(background_option());
}

}  // namespace gpufilter
