// A report of a run that never took place, with numbers that are easy to check.
#pragma once

#include "codec/formats.hpp"
#include "codec/jpeg/write/encoding.hpp"
#include "pipeline/run/run.hpp"
#include "support/testing.hpp"

namespace gpufilter::test {

inline RunReport example_report() {
  RunReport report;
  report.input = "in.png";
  report.output = "out.jpg";
  report.input_format = &png_codec();
  report.output_format = &jpeg_codec();
  report.size = {1000, 500};
  report.output_size = {1000, 500};
  report.input_pixel = {4, 8};
  report.output_pixel = {3, 8};
  report.input_file_pixels = {"RGBA", 4, 8};
  report.output_file_pixels = {"RGB", 3, 8};
  report.bands = 2;
  report.band_rows = 250;
  report.output_bytes = 1234;
  report.encoding = notes_on({{.quality = 75, .standard = true},
                              "requested",
                              ChromaSubsampling{2, 2},
                              "the default below quality 90"});
  report.engine.device = "Fast, \"new\" GPU";
  report.engine.kind = "gpu";
  report.engine.platform = "OpenCL 3.0 Maker 1.2  with, a, list";
  report.engine.driver = "7.8";
  report.engine.reason = "the first GPU";
  report.passes = {{{"tiled 16x16", "auto: 1.5 times as fast", ProgramOrigin::compiled}, "blur"},
                   {{"naive", "requested", ProgramOrigin::cached}, "tint"}};
  report.start = 1'000'000;
  report.total = 100'000'000;
  constexpr Nanoseconds us = 1000;
  const auto span = [](Activity activity, int pass, Nanoseconds start, Nanoseconds duration,
                       std::uint64_t bytes = 0, int rows = 0) {
    return Span{.activity = activity,
                .pass = pass,
                .start = start,
                .duration = duration,
                .bytes = bytes,
                .rows = rows};
  };
  report.spans = {span(Activity::decode, -1, 1000 * us, 500 * us),
                  span(Activity::start_device, -1, 1500 * us, 1000 * us),
                  span(Activity::build_program, 0, 2500 * us, 30'000 * us),
                  span(Activity::build_program, 1, 32'500 * us, 1000 * us),
                  span(Activity::decode, -1, 33'500 * us, 3500 * us, 2'000'000, 250),
                  span(Activity::upload, -1, 37'000 * us, 500 * us, 2'000'000),
                  span(Activity::kernel, 0, 38'000 * us, 2000 * us, 4'000'000, 250),
                  span(Activity::kernel, 1, 40'000 * us, 1000 * us, 4'000'000, 250),
                  span(Activity::download, -1, 41'000 * us, 250 * us, 1'500'000),
                  span(Activity::encode, -1, 50'000 * us, 51'000 * us, 1'500'000, 250)};
  return report;
}

}  // namespace gpufilter::test
