// The work of a run, found and checked before anything is written.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "batch/folder_scan.hpp"
#include "batch/journal.hpp"
#include "batch/output_name.hpp"
#include "batch/picture_list.hpp"
#include "batch/shard.hpp"
#include "batch/shard_run.hpp"
#include "codec/codec_table.hpp"
#include "pipeline/plan/plan.hpp"
#include "pipeline/run/run.hpp"

namespace gpufilter {

// What to do if an output already exists.
enum class OnExists { fail, skip, overwrite };

// A share of one folder; other processes take the rest.
struct ShardRequest {
  Shard shard;
  std::string source;  // where the share comes from, for reports
  // The work_hash() of each format and size; see NamedResult::size.
  std::map<std::pair<const Codec*, std::size_t>, ContentHash> works;
  std::string command;  // as in ShardRun
};

struct BatchRequest : ResultNames {
  std::vector<std::string> inputs;  // files and folders, at least one
  std::string output;               // a folder; created if it does not exist
  bool recursive = false;
  bool follow_links = false;
  std::vector<std::string> patterns;  // see FolderScan
  std::vector<std::string> excluded = {};
  // A file with a PictureList of the only input, a folder; empty: folders are searched.
  std::string list;
  // Outputs besides the results; their paths are folders. None if there are `sizes`.
  std::vector<ChainOutput> outputs = {};
  // Of the chain, and those of them before the one that makes the sizes: the chain makes the last
  // size, RunOptions::branches make the others.
  std::size_t stages = 0;
  std::size_t stages_before_sizes = 0;
  OnExists on_exists = OnExists::fail;
  // Results replace their inputs: the pictures in the only input, a folder, which is also the
  // output; or files that are all in the output folder.
  bool in_place = false;
  bool resume = false;                // skip what the journals record as complete
  RunWork work = {};                  // as run_work() says
  std::optional<ShardRequest> shard;  // of the only input, a folder that is not `output`
};

struct BatchItem {
  std::string input;                     // its path
  std::string output;                    // relative to the output folder
  const Codec* output_format = nullptr;  // nullptr: the input cannot be read
  std::vector<ChainOutput> others = {};  // the other outputs; all have a format
  std::uint64_t bytes = 0;               // of the input
  bool keep_output = false;              // the output exists and stays as it is
  bool exists = false;                   // all outputs do
  bool replaces_input = false;
  std::string problem = {};  // why the input cannot be read; empty if it can
};

struct PlannedShard {
  Shard shard;
  std::string source;
  ShardRun run;                  // the run that this is a share of
  bool has_begun = false;        // the run is recorded in the output folder
  PictureList listing;           // all pictures of the run; empty once it has begun
  std::uint64_t bytes = 0;       // of the share
  std::size_t all_pictures = 0;  // of the run
  std::uint64_t all_bytes = 0;
  // Tokens of processes that died before they finished this shard or a shard of another count.
  std::set<std::string, std::less<>> dead_processes;
};

struct BatchPlan {
  std::vector<std::string> inputs;
  std::string output;
  // The only item need not be in a folder: its output is a path or a stream, and there is no
  // journal.
  bool is_one_picture = false;
  // What BatchItem::others and the last output are, for reports: folders as given, sizes, formats.
  std::vector<std::string> output_names = {};
  bool recursive = false;
  RunWork work = {};             // as in BatchRequest
  std::vector<BatchItem> items;  // in the order of the inputs; within a folder by relative path
  // In the folders; of a shard: those in its share. Nothing is done with them.
  std::vector<OtherPicture> others;
  KnownRecords records;  // of earlier runs; empty unless this run resumes them
  std::optional<PlannedShard> shard;
  std::size_t unmatched = 0;  // as in ScanResult, of all folders
  std::size_t excluded = 0;
  std::size_t not_entered = 0;

  [[nodiscard]] std::string output_path(const BatchItem& item) const;
  // The name of another output in the journal: its path relative to the output folder.
  [[nodiscard]] std::string journal_name_of(const ChainOutput& other) const;
};

// Scans the inputs; changes nothing. Throws UsageError, which names the files, if
// - the output is not a folder, or does not exist and is named like a picture;
// - the output is an input folder without `in_place`;
// - two outputs are the same file;
// - results would be filtered again: a run with `in_place` did not end in this folder, or `resume`
//   continues a run of other stages;
// - an output has a name without a known extension, is one of the inputs, or already exists and
//   `on_exists` is fail.
// Throws PictureError if a folder or the journal cannot be read.
[[nodiscard]] BatchPlan make_batch_plan(const BatchRequest& request);

// A hash of what determines the bytes of a result besides the input and the library in use: the
// stages, the format with its options, the version of the program and the libraries it was built
// with. Loads none of them.
[[nodiscard]] ContentHash work_hash(const StageChain& chain, const Codec& output_format,
                                    const WriteOptions& options);

// The data for Journal::begin_run(), of a chain with these branches.
[[nodiscard]] RunWork run_work(const StageChain& chain, const WriteOptions& options,
                               const std::vector<StageChain>& branches = {});

// JournalRecord::work: `work` done with the output format's library, which is loaded to ask for its
// version. If it cannot be loaded, no result has this hash.
[[nodiscard]] ContentHash with_library(const ContentHash& work, const Codec& output_format);

// The plan for the shard of `request`. The first process of a run lists the pictures and checks the
// whole folder. Later ones find the run in the output folder and take its listing and the records
// that they need from its journals. Throws as make_batch_plan() does, and UsageError if the folder
// holds another run.
[[nodiscard]] BatchPlan make_shard_plan(const BatchRequest& request);

// Begins the run in the output folder if it has not begun. If another process has begun it
// meanwhile, returns a plan for that process's listing. Throws as make_shard_plan() does.
[[nodiscard]] BatchPlan join_run(const BatchRequest& request, BatchPlan plan);

// All records of the folder, from its own journal and from the shards' journals of an unfinished
// run. For runs without shards. Throws PictureError.
[[nodiscard]] KnownRecords records_of_everyone(const std::string& output);

// The item for `found` in `folder`, the picture with this number. `in_place`: the folder is also
// the output folder. Throws UsageError if neither the request nor the name gives the format of the
// result.
[[nodiscard]] BatchItem plan_item(const BatchRequest& request, FoundFile found,
                                  const std::filesystem::path& folder, bool in_place,
                                  std::size_t number = 1);

// BatchPlan::output_names.
[[nodiscard]] std::vector<std::string> names_of_outputs(const BatchRequest& request);

// A picture of another format that a list of `folder` names.
[[nodiscard]] OtherPicture other_picture(const std::filesystem::path& folder,
                                         const SizedName& listed);

// The pictures in the request's list, without those in the output folder. Throws as
// read_picture_list() does.
[[nodiscard]] PictureList listed_pictures(const BatchRequest& request);

// Paths without links, also of files that do not exist yet.
class Places {
 public:
  [[nodiscard]] std::string of(const std::string& path);
  // The identity of a file that is known not to exist.
  [[nodiscard]] std::string of_new(const std::string& path);

 private:
  std::unordered_map<std::string, std::filesystem::path> folders_;
};

// Throws UsageError if two outputs of the plan are the same file.
void check_collisions(const BatchRequest& request, const BatchPlan& plan);

// The identities of the inputs that can be read.
[[nodiscard]] std::set<FileIdentity> identities_of(const BatchPlan& plan);

// Notes in each item which of its outputs exist and are kept. `inputs` returns the identities of
// all inputs of the run; it is called at most once. `resumes`: the run has read the journals.
// Throws UsageError if an output exists and may be neither kept nor replaced.
void check_existing(BatchPlan& plan, OnExists on_exists, bool resumes,
                    const std::function<std::set<FileIdentity>()>& inputs);

}  // namespace gpufilter
