// A report of a run that never took place, with numbers that are easy to check.
#pragma once

#include "codec/jpeg/codec.hpp"
#include "codec/jpeg/write/settings.hpp"
#include "codec/png/codec.hpp"
#include "pipeline/run/run.hpp"

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
                              "asked for",
                              ChromaSubsampling{2, 2},
                              "the default below quality 90"});
  report.engine.device = "Fast, \"new\" GPU";
  report.engine.kind = "gpu";
  report.engine.platform = "OpenCL 3.0 Maker 1.2  with, a, list";
  report.engine.driver = "7.8";
  report.engine.reason = "the first GPU";
  report.passes = {{{"tiled 16x16", "auto: 1.5 times as fast", ProgramOrigin::compiled}, "blur"},
                   {{"naive", "asked for", ProgramOrigin::cached}, "tint"}};
  report.start = 1'000'000;
  report.total = 100'000'000;
  report.spans = {
      {.activity = Activity::decode, .start = 1'000'000, .duration = 500'000},
      {.activity = Activity::start_device, .start = 1'500'000, .duration = 1'000'000},
      {.activity = Activity::build_program, .pass = 0, .start = 2'500'000, .duration = 30'000'000},
      {.activity = Activity::build_program, .pass = 1, .start = 32'500'000, .duration = 1'000'000},
      {.activity = Activity::decode,
       .start = 33'500'000,
       .duration = 3'500'000,
       .bytes = 2'000'000,
       .first_row = 0,
       .rows = 250},
      {.activity = Activity::upload, .start = 37'000'000, .duration = 500'000, .bytes = 2'000'000},
      {.activity = Activity::kernel,
       .pass = 0,
       .start = 38'000'000,
       .duration = 2'000'000,
       .bytes = 4'000'000,
       .first_row = 0,
       .rows = 250},
      {.activity = Activity::kernel,
       .pass = 1,
       .start = 40'000'000,
       .duration = 1'000'000,
       .bytes = 4'000'000,
       .first_row = 0,
       .rows = 250},
      {.activity = Activity::download,
       .start = 41'000'000,
       .duration = 250'000,
       .bytes = 1'500'000},
      {.activity = Activity::encode,
       .start = 50'000'000,
       .duration = 51'000'000,
       .bytes = 1'500'000,
       .first_row = 0,
       .rows = 250},
  };
  return report;
}

}  // namespace gpufilter::test
