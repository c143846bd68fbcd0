#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "app/cli/arguments.hpp"
#include "app/cli/commands.hpp"
#include "app/cli/parse.hpp"
#include "app/filter/format_options.hpp"
#include "base/error.hpp"
#include "base/files.hpp"
#include "base/format.hpp"
#include "base/log.hpp"
#include "base/numbers.hpp"
#include "base/printable.hpp"
#include "base/threads.hpp"
#include "base/words.hpp"
#include "batch/batch_run.hpp"
#include "batch/contact_sheet.hpp"
#include "batch/folder_scan.hpp"
#include "codec/formats.hpp"
#include "pipeline/choose/dispatcher.hpp"
#include "pipeline/run/run.hpp"
#include "stages/given_stages.hpp"

namespace gpufilter {
namespace {

namespace fs = std::filesystem;

constexpr const char* montage_description =
    "Makes a contact sheet: small pictures of a folder side by side, on one page or several.";

constexpr const char* montage_explanation =
    R"(Pictures are shown upright, in sRGB, in the order of their names, and whole
unless --fit is cover. They are not enlarged. There are no captions. The page
has the colour of --background. Without --paper it is as large as its grid, and
at most 16,384 pixels high. Several pages are numbered: sheet-1.jpg,
sheet-2.jpg. A picture that cannot be read leaves its cell empty, and the exit
code is 1.

Examples:
  gpufilter montage photos sheet.jpg
  gpufilter montage photos proof.png --columns 4 --cell 400x300 --gap 20
  gpufilter montage photos sheet.jpg --paper a4 --dpi 300 --columns 5
)";

// In millimetres.
const std::map<std::string, std::pair<double, double>>& papers() {
  static const std::map<std::string, std::pair<double, double>> sizes{
      {"a3", {297, 420}}, {"a4", {210, 297}},         {"a5", {148, 210}},
      {"a6", {105, 148}}, {"letter", {215.9, 279.4}}, {"legal", {215.9, 355.6}}};
  return sizes;
}

struct MontageOptions {
  std::vector<std::string> inputs;
  std::string output;
  SheetRequest sheet;
  std::string paper;
  int dpi = 300;
  bool landscape = false;
  bool recursive = false;
  bool covers = false;
  bool overwrites = false;
  bool keeps_existing = false;
  bool quiet = false;
  WriteOptions write;
};

ImageSize parse_cell(const std::string& text) {
  const std::size_t cross = std::min(text.find('x'), text.size());
  ImageSize size;
  const std::string_view words = text;
  if (cross < text.size() && parse_whole(words.substr(0, cross), size.width) &&
      parse_whole(words.substr(cross + 1), size.height) && size.width > 0 && size.height > 0)
    return size;
  throw UsageError(printable(formatted("--cell {}: write WIDTHxHEIGHT, such as 300x200", text)));
}

std::vector<std::string> paper_names() {
  std::vector<std::string> names;
  for (const auto& [name, size] : papers())
    names.push_back(name);
  return names;
}

constexpr int most = 10'000;  // cells, pixels

void declare_names(Arguments& app, MontageOptions& options) {
  app.add_option("INPUT", options.inputs, "Folders and pictures.")
      ->option_text("...")
      ->suggests(picture_files());
  app.add_option("SHEET", options.output, "The page to write; its name decides the format.")
      ->suggests(picture_files());
  app.add_flag("--recursive", options.recursive, "Include subfolders.");
  app.add_option_function(
         "--on-exists",
         [&](const std::string& text) {
           options.overwrites = text == "overwrite";
           options.keeps_existing = !options.overwrites;
         },
         "What to do if a page exists. By default a single page is replaced, several are not.")
      ->check(one_of({"fail", "overwrite"}))
      ->option_text("fail|overwrite");
  app.add_flag("-q,--quiet", options.quiet, "Print only errors.");
}

void declare_grid(Arguments& app, MontageOptions& options) {
  app.add_option("--columns", options.sheet.columns,
                 "Cells side by side. By default 6; on paper 4, or as many as fit.")
      ->check(whole_number(1, most))
      ->option_text("N");
  app.add_option("--rows", options.sheet.rows, "Rows of a page. By default as many as fit.")
      ->check(whole_number(1, most))
      ->option_text("N");
  app.add_option_function(
         "--cell", [&](const std::string& text) { options.sheet.cell = parse_cell(text); },
         "Size of a cell in pixels. On paper, by default squares as wide as the columns allow.")
      ->option_text("WxH [256x256]");
  app.add_option("--gap", options.sheet.gap, "Pixels between cells, and at least around them.")
      ->check(whole_number(0, most))
      ->option_text("N [8]");
  app.add_option_function(
         "--fit", [&](const std::string& text) { options.covers = text == "cover"; },
         "inside: the whole picture. cover: what fills the cell.")
      ->check(one_of({"inside", "cover"}))
      ->option_text("inside|cover [inside]");
  app.add_option("--paper", options.paper, "Size of the page.")
      ->check(one_of(paper_names()))
      ->option_text("a3|a4|a5|a6|letter|legal");
  app.add_option("--dpi", options.dpi, "Pixels per inch of paper.")
      ->check(whole_number(10, 2400))
      ->option_text("N [300]");
  app.add_flag("--landscape", options.landscape, "Turn the paper.");
}

// The last name is the sheet's; the page takes its size from --paper.
void complete(MontageOptions& options) {
  if (options.inputs.size() < 2)
    throw UsageError("montage takes pictures and a sheet: gpufilter montage FOLDER sheet.jpg");
  options.output = options.inputs.back();
  options.inputs.pop_back();
  if (options.paper.empty()) {
    if (options.landscape) throw UsageError("--landscape: has no effect without --paper");
    return;
  }
  const auto pixels = [&](double millimetres) {
    return static_cast<int>(std::lround(millimetres * options.dpi / 25.4));
  };
  const auto& [width, height] = papers().at(options.paper);
  ImageSize& page = options.sheet.paper.emplace(ImageSize{pixels(width), pixels(height)});
  if (options.landscape) std::swap(page.width, page.height);
}

// What is shown.
struct Shown {
  std::vector<std::string> pictures;
  std::vector<std::string> problems;  // why they cannot be read; empty: none
};

void add_found(Shown& shown, const fs::path& path, const std::string& problem) {
  shown.pictures.push_back(path);
  shown.problems.push_back(problem);
}

// Page `number` of `pages`: sheet-03.jpg. A single page has the name as given.
std::string page_name(const std::string& output, std::size_t number, std::size_t pages) {
  if (pages == 1) return output;
  const fs::path path = output;
  const std::size_t digits = std::to_string(pages).size();
  return path.parent_path() /
         formatted("{}-{:0{}}{}", path.stem().string(), number, digits, path.extension().string());
}

// Whether an earlier run with this output may have written `path`.
bool is_page(const fs::path& path, const fs::path& output) {
  if (same_file(path, output)) return true;
  const std::string name = path.stem();
  const std::string begin = output.stem().string() + "-";
  return path.extension() == output.extension() && name.starts_with(begin) &&
         name.find_first_not_of("0123456789", begin.size()) == std::string::npos &&
         same_file(path, output.parent_path() / path.filename());
}

Shown find_pictures(const MontageOptions& options) {
  Shown shown;
  for (const std::string& input : options.inputs) {
    if (!is_folder_argument(input)) {
      if (same_file(input, options.output))
        throw UsageError(printable(input) + ": is an input; give the sheet another name");
      add_found(shown, input, look_at(input).problem);
      continue;
    }
    for (const FoundFile& file : scan_folder({input, options.recursive}).files) {
      const fs::path path = fs::path(input) / file.relative;
      if (!is_page(path, options.output)) add_found(shown, path, file.problem);
    }
  }
  if (shown.pictures.empty())
    throw UsageError(printable(options.inputs.front()) + ": contains no picture");
  return shown;
}

// The stages that make a picture fit in a cell of the sheet.
StageChain chain_for(const MontageOptions& options, const ImageSize& cell) {
  const auto color = *options.write.get<Color>(background_option());
  const auto& stages = stage_catalogue();
  StageChain chain = make_chain(
      given_stages({{"--to-srgb", ""},
                    {"--resize", formatted("{}x{}", cell.width, cell.height)},
                    {"--fit", options.covers ? "cover" : "inside"},
                    {"--only", "shrink"},
                    {"--fast-shrink", ""},
                    {"--flatten", formatted("#{:02x}{:02x}{:02x}", color[0], color[1], color[2])},
                    {"--depth", "8"}},
                   stages));
  std::vector<ChainOutput> none;
  add_upright_stage(chain, OrientationRule::automatic, none);
  return chain;
}

// Reads pictures for cells on the processor, and reports those that fail.
class CellReader {
 public:
  CellReader(const Shown& shown, StageChain chain)
      : shown_(shown),
        chain_(std::move(chain)),
        engine_(make_engine("cpu", false, default_engine_options())),
        dispatcher_(*engine_),
        memory_(memory_of_jobs(RunOptions().max_memory, static_cast<int>(allowed_threads())) /
                allowed_threads()) {}

  [[nodiscard]] std::size_t failed() const { return failed_; }

  [[nodiscard]] std::optional<Image> read(std::size_t i) {
    try {
      if (!shown_.problems[i].empty()) throw PictureError(shown_.pictures[i], shown_.problems[i]);
      return filtered(shown_.pictures[i]);
    } catch (const PictureError& error) {
      const std::lock_guard lock(mutex_);
      log::failure(error.what());
      ++failed_;
      return std::nullopt;
    }
  }

 private:
  [[nodiscard]] Image filtered(const std::string& path) {
    std::vector<std::uint8_t> bytes;
    RunOptions run;
    run.max_memory = memory_;
    run.open_output = [&](const std::string&) { return memory_sink(bytes, path); };
    static_cast<void>(filter_picture(path, {"cell.pam", &pam_codec()}, chain_, dispatcher_, run));
    const auto reader = open_picture(memory_source(std::move(bytes), path));
    Image image(reader->header().size, reader->header().format);
    reader->read(image.rows());
    return image;
  }

  const Shown& shown_;
  StageChain chain_;
  std::shared_ptr<Engine> engine_;
  Dispatcher dispatcher_;
  std::uint64_t memory_;
  std::mutex mutex_;
  std::size_t failed_ = 0;
};

// Throws UsageError if a page may not be written.
void check_pages(const MontageOptions& options, std::size_t pages) {
  if (options.overwrites || (pages == 1 && !options.keeps_existing)) return;
  for (std::size_t number = 1; number <= pages; ++number) {
    const std::string name = page_name(options.output, number, pages);
    if (exists(name))
      throw UsageError(printable(name) + ": already exists; --on-exists overwrite replaces it");
  }
}

void write_page(const MontageOptions& options, const SheetLayout& layout, const std::string& name,
                RowRange pictures, CellReader& cells) {
  PictureHeader header;
  header.set_shape({layout.page, {3, 8}});
  if (options.sheet.paper) {
    constexpr double inches_per_metre = 1 / 0.0254;
    const auto dots = static_cast<std::uint32_t>(std::lround(options.dpi * inches_per_metre));
    header.metadata.density = Density{Density::Unit::per_metre, dots, dots};
  }
  const bool replaces = is_regular_file(name);
  const std::size_t failed_before = cells.failed();
  const auto sink = open_sink(name);
  const auto writer = create_picture(codec_for_output(name), *sink, header, options.write);
  write_sheet(
      layout, *options.write.get<Color>(background_option()),
      static_cast<std::size_t>(pictures.begin), static_cast<std::size_t>(pictures.end),
      [&](std::size_t i) { return cells.read(i); }, *writer);
  writer->finish({});
  sink->commit();
  if (options.quiet) return;
  print_note(
      printable(formatted(
          "{}{}: {}x{}, {} in {} columns", name, replaces ? " (replaced)" : "", layout.page.width,
          layout.page.height,
          counted(static_cast<std::size_t>(pictures.count()) - (cells.failed() - failed_before),
                  "picture"),
          layout.columns)) +
      "\n");
}

}  // namespace

int run_montage_command(int argc, const char* const* argv) {
  MontageOptions options;
  Arguments app(montage_description, "gpufilter montage");
  declare_names(app, options);
  declare_grid(app, options);
  add_format_options(app, options.write);
  add_color_output(app);
  app.footer(montage_explanation);
  if (const auto done = parse_command_line(app, argc, argv)) return *done;
  complete(options);
  WriteOptions for_format = options.write;
  refuse_unused_options(for_format.unset(background_option()), {&codec_for_output(options.output)});
  const Shown shown = find_pictures(options);
  const std::size_t count = shown.pictures.size();
  const SheetLayout layout = lay_out(options.sheet, count);
  const std::size_t pages = (count + layout.cells() - 1) / layout.cells();
  check_pages(options, pages);
  CellReader cells(shown, chain_for(options, layout.cell));
  for (std::size_t page = 0; page < pages; ++page) {
    const std::size_t begin = page * layout.cells();
    const std::size_t end = std::min(count, begin + layout.cells());
    write_page(options, layout, page_name(options.output, page + 1, pages),
               {static_cast<int>(begin), static_cast<int>(end)}, cells);
  }
  return cells.failed() > 0 ? 1 : 0;
}

}  // namespace gpufilter
