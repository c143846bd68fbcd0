#include "app/help/help_topics.hpp"

#include <algorithm>
#include <array>
#include <iterator>

#include "app/help/help_layout.hpp"
#include "base/format.hpp"
#include "base/installed_files.hpp"

namespace gpufilter {
namespace {

constexpr std::array read_variables{
    NamedMeaning{"GPUFILTER_DEVICE", "The default of --device."},
    NamedMeaning{"GPUFILTER_ON_EXISTS", "The default of --on-exists."},
    NamedMeaning{"GPUFILTER_DAMAGED", "The default of --damaged."},
    NamedMeaning{"GPUFILTER_INSTRUCTION_SET",
                 "baseline, avx2, avx512, avx512_vnni, avx512_vbmi or, on ARM64, neon_dot: the "
                 "instruction set of the processor's loops, instead "
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

struct Topic {
  std::string_view name;
  std::string_view text;  // wrapped by the page; a line end begins a new paragraph
  std::string_view examples;
  std::string_view page;  // in docs/
};

constexpr std::array topics{
    Topic{"folders",
          "gpufilter INDIR OUTDIR filters every picture in a folder; OUTDIR is created.\n"
          "gpufilter INPUT... OUTDIR/ filters several pictures. OUTDIR exists, or its name ends in "
          "a slash and it is created.\n"
          "Results get the names of their inputs; --to changes their format. --recursive includes "
          "subfolders, --match selects names.\n"
          "Existing results are refused before any work, unless --on-exists or --resume is given. "
          "--resume continues a run: it filters what is missing or has changed.\n",
          "  gpufilter photos/ results/ --blur auto --recursive --resume\n", "folders.md"},
    Topic{"existing-files",
          "One picture to one name replaces an existing file; the report says (replaced). Without "
          "a stage and without an option it is refused, because that is what 'gpufilter *.png' "
          "becomes in a folder with two pictures.\n"
          "Folders and several inputs never replace a file unless you say so.\n"
          "--on-exists fail, skip or overwrite decides for both; GPUFILTER_ON_EXISTS sets its "
          "default.\n"
          "A result that fails leaves the existing file as it was.\n",
          "  gpufilter in.png out.png --blur auto --on-exists skip\n", "folders.md"},
    Topic{"in-place",
          "gpufilter INPUT... --in-place replaces each input by its result. INPUT is one picture, "
          "several pictures of one folder, or one folder.\n"
          "A picture is replaced in one step, once its result is complete. For folders and "
          "several pictures a journal in the folder records what is done; with --resume no "
          "picture is filtered twice.\n",
          "  gpufilter in.png --blur auto --in-place\n"
          "  gpufilter a.png b.png --blur auto --in-place\n",
          "folders.md"},
    Topic{"clusters",
          "--shard I/N filters one of N shares of a folder, so that N processes on any machines "
          "share the work. --shard auto takes I and N from Slurm, Kubernetes, MPI or GNU "
          "parallel. 'gpufilter gather OUTDIR' checks and ends the run.\n",
          "", "engineering/clusters.md"},
    Topic{"exit-codes",
          "0: done\n1: a picture failed; the others in a folder are still done\n"
          "2: wrong usage, found before any picture is touched\n"
          "3: the requested device does not exist or does not work\n"
          "129, 130, 131, 143: ended by SIGHUP, SIGINT, SIGQUIT, SIGTERM\n"
          "compare has its own: see 'gpufilter help compare'.\n",
          "", "exit-codes.md"},
    Topic{
        "metadata",
        "EXIF, XMP, IPTC, text, density and colour profiles are carried over as far as the "
        "output's format can hold them; a warning names what it cannot. Thumbnails, which show the "
        "old picture, are removed.\n"
        "--strip removes all but the colour profile, density, orientation and the like. --keep "
        "names the kinds that stay, for instance exif,icc; the orientation always stays.\n"
        "--orientation says when the orientation is applied: before the first stage that depends "
        "on it, at the beginning, or not at all.\n",
        "  gpufilter in.jpg out.jpg --keep exif,icc\n", "metadata.md"},
    Topic{"formats",
          "PNG, JPEG, TIFF, WebP, JPEG XL, HEIC, AVIF and Netpbm's PPM, PGM, PNM and PAM are read "
          "and written. The content decides an input's format, the name of the output its format; "
          "--to sets it for '-' and for folders.\n"
          "16-bit pictures stay 16-bit, except in JPEG and WebP (8 bits), HEIC (10) and AVIF (12). "
          "JPEG, PPM, PGM and PNM have no alpha: it is flattened onto --background. PGM is grey. "
          "From JPEG to JPEG, quality and chroma subsampling are kept unless --quality or "
          "--subsampling is given.\n",
          "  gpufilter in.png out.jpg --quality 85\n", "engineering/jpeg.md"},
    Topic{
        "recipes",
        "@FILE stands for the words in FILE, anywhere on the command line: stages and options that "
        "belong together.\n"
        "Words end at blanks and line ends, # begins a comment, quotes work as in a shell. A "
        "recipe may name others with @. Stages' files and other recipes are searched for beside "
        "the recipe first.\n"
        "These come with the program and are found by name: @web-gallery, @print, @scan-cleanup "
        "and @black-and-white.\n"
        "For a file whose name begins with @ write ./@NAME, for such a value --OPTION=@VALUE.\n",
        "  gpufilter photos/ web/ @web-gallery\n", "recipes.md"},
    Topic{"networks",
          "--mlp FILE runs a small network on each pixel. FILE is JSON with layers of weights and "
          "biases. --net FILE runs a convolutional network; FILE is ONNX.\n"
          "These come with the program and are found by name: denoise.onnx, deblock.onnx and "
          "upscale2x.onnx, each also as -int8.onnx, and golden-hour.json for --mlp.\n",
          "  gpufilter in.jpg large.png --net upscale2x.onnx\n", "network.md"},
    Topic{"numbers",
          "The same input and stages give the same bits on the processor and on every GPU. "
          "Integers are used where the operation allows it, with one rounding at the end; other "
          "stages use single precision in a fixed order.\n",
          "", "engineering/numbers.md"},
    Topic{"gpus",
          "--device auto estimates how long the processor and the GPU take, and uses what "
          "finishes first; the report says why. For most pictures that is the processor. --device "
          "gpu uses the GPU in any case, 'gpufilter devices' lists what was found.\n",
          "  gpufilter devices\n", "why-not-my-gpu.md"},
};

constexpr std::string_view environment_topic = "environment";
constexpr std::string_view glossary_topic = "glossary";

// docs/engineering/glossary.md has the same words, and what they mean.
constexpr std::string_view glossary = R"(OpenCL               CUDA                     Metal

work-item            thread                   thread
work-group           thread block             threadgroup
sub-group            warp                     SIMD group
NDRange              grid                     grid
global memory        global memory            device memory
local memory         shared memory            threadgroup memory
private memory       registers, local memory  thread memory
constant memory      constant memory          constant memory
compute unit         multiprocessor (SM)      GPU core
command queue        stream                   command queue
__kernel             __global__               kernel
__local              __shared__               threadgroup
get_global_id(0)     blockIdx.x * blockDim.x  thread_position_in_grid.x
                     + threadIdx.x
get_local_id(0)      threadIdx.x              thread_position_in_threadgroup.x
get_group_id(0)      blockIdx.x               threadgroup_position_in_grid.x
get_local_size(0)    blockDim.x               threads_per_threadgroup.x
get_num_groups(0)    gridDim.x                threadgroups_per_grid.x
barrier              __syncthreads            threadgroup_barrier
sub_group_reduce_add __reduce_add_sync        simd_sum
atomic_add           atomicAdd                atomic_fetch_add_explicit
)";

std::string list_of(std::span<const NamedMeaning> entries) {
  std::string text;
  for (const auto& [name, meaning] : entries)
    text += list_item(std::string(name), meaning, 32);
  return text;
}

const Topic* find_topic(std::string_view name) {
  const auto found = std::ranges::find(topics, name, &Topic::name);
  return found == topics.end() ? nullptr : &*found;
}

}  // namespace

std::span<const NamedMeaning> environment_variables() {
  return read_variables;
}

std::span<const NamedMeaning> kept_files() {
  return state_files;
}

std::vector<std::string> help_topic_names() {
  std::vector<std::string> names;
  std::transform(topics.begin(), topics.end(), std::back_inserter(names),
                 [](const Topic& topic) { return std::string(topic.name); });
  names.emplace_back(environment_topic);
  names.emplace_back(glossary_topic);
  return names;
}

std::string help_topic(const std::string& name) {
  if (name == environment_topic) {
    return "Environment variables:\n" + list_of(environment_variables()) + "\nFiles:\n" +
           list_of(kept_files());
  }
  if (name == glossary_topic)
    return formatted("{}\nMore: {}\n", glossary, documentation_page("engineering/glossary.md"));
  const Topic* topic = find_topic(name);
  if (topic == nullptr) return "";
  std::string text = wrapped(topic->text);
  if (!topic->examples.empty()) text += reflowed(formatted("\nExamples:\n{}", topic->examples));
  return text + formatted("\nMore: {}\n", documentation_page(topic->page));
}

}  // namespace gpufilter
