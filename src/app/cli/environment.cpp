#include "app/cli/environment.hpp"

#include <array>

namespace gpufilter {
namespace {

constexpr std::array read_variables{
    NamedMeaning{"GPUFILTER_DEVICE", "The default of --device."},
    NamedMeaning{"GPUFILTER_ON_EXISTS", "The default of --on-exists."},
    NamedMeaning{"GPUFILTER_DAMAGED", "The default of --damaged."},
    NamedMeaning{"GPUFILTER_INSTRUCTION_SET",
                 "baseline, avx2 or avx512: the instruction set of the processor's loops, instead "
                 "of the best one. The result is the same."},
    NamedMeaning{"GPUFILTER_DATA",
                 "The folder with the networks, recipes, matrices, tables and profiles that are "
                 "found by name, instead of PREFIX/share/gpufilter."},
    NamedMeaning{"GPUFILTER_KERNELS",
                 "A folder with OpenCL files that replace the program's own of the same name."},
    NamedMeaning{
        "GPUFILTER_PROBE_SECONDS",
        "How long a vendor's OpenCL library may take to answer before it counts as broken."},
    NamedMeaning{"OCL_ICD_VENDORS, OPENCL_VENDOR_PATH",
                 "The OpenCL drivers to load, as in the system's loader."},
    NamedMeaning{"POCL_CACHE_DIR", "The folder for PoCL's compiled kernels."},
    NamedMeaning{"XDG_CACHE_HOME", "The folder for caches, instead of ~/.cache."},
    NamedMeaning{"COLUMNS", "The width of help pages, instead of the terminal's."},
    NamedMeaning{"NO_COLOR", "If it is set, messages have no colours."},
};

constexpr std::array state_files{
    NamedMeaning{"PREFIX/share/gpufilter",
                 "Networks, recipes, matrices, tables and profiles that options find by name: "
                 "--net upscale2x.onnx, @web-gallery."},
    NamedMeaning{"PREFIX/share/doc/gpufilter/docs", "The documentation."},
    NamedMeaning{"~/.cache/gpufilter/programs", "Compiled OpenCL programs. May be deleted."},
    NamedMeaning{"~/.cache/gpufilter/probes.json", "Which OpenCL drivers work. May be deleted."},
    NamedMeaning{"~/.cache/gpufilter/rates.json",
                 "The speeds that --device auto has measured. May be deleted."},
    NamedMeaning{"~/.cache/gpufilter/tuning.json", "What 'gpufilter tune' has chosen."},
    NamedMeaning{"OUTDIR/.gpufilter-journal", "Which pictures of a folder are done, for --resume."},
    NamedMeaning{"OUTDIR/.gpufilter-shards", "The state of a run with --shard, until 'gather'."},
};

}  // namespace

std::span<const NamedMeaning> environment_variables() {
  return read_variables;
}

std::span<const NamedMeaning> kept_files() {
  return state_files;
}

}  // namespace gpufilter
