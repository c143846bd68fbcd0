#include "app/cli/arguments.hpp"

#include <algorithm>

#include <CLI/CLI.hpp>

#include "base/words.hpp"

namespace gpufilter {

Option* Option::check(const ValueCheck& complaint) {
  const auto tell = [find_fault = complaint.complaint](std::string& text) {
    return find_fault(text);
  };
  parsed_->check(CLI::Validator(tell, ""));
  suggestions_.words.insert(suggestions_.words.begin(), complaint.words.begin(),
                            complaint.words.end());
  return this;
}

Option* Option::option_text(const std::string& form) {
  parsed_->option_text(form);
  return this;
}

Option* Option::portable_text(const std::string& form) {
  portable_form_ = form;
  return this;
}

Option* Option::suggests(Suggestions suggestions) {
  suggestions.words.insert(suggestions.words.begin(), suggestions_.words.begin(),
                           suggestions_.words.end());
  suggestions_ = std::move(suggestions);
  return this;
}

Option* Option::group(const std::string& heading) {
  parsed_->group(heading);
  return this;
}

Option* Option::description(const std::string& text) {
  parsed_->description(text);
  return this;
}

Option* Option::required() {
  parsed_->required();
  return this;
}

Option* Option::one_value_each() {
  parsed_->allow_extra_args(false);
  return this;
}

Option* Option::comma_list() {
  parsed_->delimiter(',');
  return one_value_each();
}

Option* Option::excludes(Option* other) {
  parsed_->excludes(other->parsed_);
  return this;
}

Option* Option::envname(const std::string& variable) {
  parsed_->envname(variable);
  return this;
}

Option* Option::trigger_on_parse() {
  parsed_->trigger_on_parse();
  return this;
}

std::string Option::name() const {
  return parsed_->get_name();
}

std::string Option::all_names() const {
  return parsed_->get_name(false, true);
}

std::vector<std::string> Option::long_names() const {
  return parsed_->get_lnames();
}

std::string Option::form() const {
  return parsed_->get_option_text();
}

const std::vector<std::string>& Option::values() const {
  return parsed_->results();
}

std::string Option::portable_form() const {
  return portable_form_.empty() ? form() : portable_form_;
}

std::string Option::group() const {
  return parsed_->get_group();
}

std::string Option::description() const {
  return parsed_->get_description();
}

bool Option::is_positional() const {
  return parsed_->get_positional();
}

bool Option::is_required() const {
  return parsed_->get_required();
}

bool Option::takes_several() const {
  return parsed_->get_items_expected_max() > 1;
}

bool Option::is_flag() const {
  return parsed_->get_items_expected_max() == 0;
}

bool Option::may_precede(const std::string& word) const {
  return std::ranges::find(following_, word) != following_.end();
}

Arguments::Arguments(const std::string& description, const std::string& name)
    : parser_(std::make_unique<CLI::App>(description, name)),
      help_(declared(parser_->get_help_ptr())) {}

Arguments::~Arguments() = default;

Option* Arguments::declared(CLI::Option* option) {
  return &options_.emplace_back(option);
}

template <typename Value>
Option* Arguments::add_option(const std::string& name, Value& variable, const std::string& help) {
  return declared(parser_->add_option(name, variable, help));
}

using OptionalNumber = std::optional<int>;
using OptionalText = std::optional<std::string>;
using Numbers = std::vector<int>;
using Texts = std::vector<std::string>;
using Text = const std::string&;
template Option* Arguments::add_option(Text name, std::string& variable, Text help);
template Option* Arguments::add_option(Text name, int& variable, Text help);
template Option* Arguments::add_option(Text name, std::uint32_t& variable, Text help);
template Option* Arguments::add_option(Text name, std::uint64_t& variable, Text help);
template Option* Arguments::add_option(Text name, OptionalNumber& variable, Text help);
template Option* Arguments::add_option(Text name, OptionalText& variable, Text help);
template Option* Arguments::add_option(Text name, Numbers& variable, Text help);
template Option* Arguments::add_option(Text name, Texts& variable, Text help);

Option* Arguments::add_option_function(const std::string& name,
                                       const std::function<void(const std::string&)>& take,
                                       const std::string& help) {
  return declared(parser_->add_option_function<std::string>(name, take, help));
}

Option* Arguments::add_flag(const std::string& name, bool& variable, const std::string& help) {
  return declared(parser_->add_flag(name, variable, help));
}

Option* Arguments::add_flag_function(const std::string& name,
                                     const std::function<void(std::int64_t)>& take,
                                     const std::string& help) {
  return declared(parser_->add_flag_function(name, take, help));
}

Option* Arguments::add_flag_callback(const std::string& name, const std::function<void()>& run,
                                     const std::string& help) {
  return declared(parser_->add_flag_callback(name, run, help));
}

Option* Arguments::add_flag_with_words(const std::string& name,
                                       const std::vector<std::string>& words,
                                       const std::string& alone,
                                       const std::function<void(const std::string&)>& take,
                                       const std::string& help) {
  const auto tell = [words](std::string& word) -> std::string {
    return std::ranges::find(words, word) == words.end() ? not_among(word, words) : "";
  };
  std::string& word = words_.emplace_back();
  Option* option = declared(parser_->add_flag(name + "{" + alone + "}", word, help)
                                ->check(CLI::Validator(tell, ""))
                                ->each(take));
  option->following_ = words;
  return option;
}

Option* Arguments::add_repeatable_flag(const std::string& name, const std::function<void()>& take,
                                       const std::string& help) {
  const auto repeat = [take](std::int64_t times) {
    for (std::int64_t i = 0; i < times; ++i)
      take();
  };
  return declared(parser_->add_flag_function(name, repeat, help)->disable_flag_override());
}

Option* Arguments::add_help_all(const std::string& help) {
  return declared(parser_->set_help_all_flag("--help-all", help));
}

void Arguments::begin_group(const std::string& heading) {
  parser_->option_defaults()->group(heading);
}

void Arguments::footer(const std::string& text) {
  parser_->footer(text);
}

// The words after the program's name, with those that follow a flag attached to it.
std::vector<std::string> Arguments::joined_words(int argc, const char* const* argv) const {
  std::vector<std::string> words;
  bool only_names = false;
  const Option* flag = nullptr;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (flag != nullptr && flag->may_precede(word)) {
      words.back() += "=" + word;
      flag = nullptr;
      continue;
    }
    words.push_back(word);
    only_names = only_names || word == "--";
    flag = !only_names && word.starts_with("--") ? find(word) : nullptr;
  }
  return words;
}

Arguments::Outcome Arguments::parse(int argc, const char* const* argv) {
  using Kind = ArgumentsError::Kind;
  try {
    std::vector<std::string> words = joined_words(argc, argv);
    std::ranges::reverse(words);  // as the parser wants them
    parser_->parse(std::move(words));
    return Outcome::parsed;
  } catch (const NothingLeftToDo&) {
    return Outcome::nothing_left;
  } catch (const CLI::CallForHelp&) {
    return Outcome::help;
  } catch (const CLI::CallForAllHelp&) {
    return Outcome::help_all;
  } catch (const CLI::ArgumentMismatch& error) {
    throw ArgumentsError(Kind::count_of_values, error.what());
  } catch (const CLI::ExtrasError& error) {
    throw ArgumentsError(Kind::extra_word, error.what());
  } catch (const CLI::ParseError& error) {
    throw ArgumentsError(Kind::other, error.what());
  }
}

std::size_t Arguments::count(const std::string& option) const {
  return parser_->count(option);
}

std::vector<const Option*> Arguments::parse_order() const {
  std::vector<const Option*> order;
  for (const CLI::Option* option : parser_->parse_order())
    order.push_back(find(option->get_name()));
  return order;
}

std::vector<std::string> Arguments::remaining() const {
  return parser_->remaining();
}

std::string Arguments::name() const {
  return parser_->get_name();
}

std::string Arguments::description() const {
  return parser_->get_description();
}

std::string Arguments::footer() const {
  return parser_->get_footer();
}

std::vector<std::string> Arguments::groups() const {
  return parser_->get_groups();
}

std::vector<const Option*> Arguments::options() const {
  std::vector<const Option*> list;
  for (const Option& option : options_)
    list.push_back(&option);
  return list;
}

const Option* Arguments::find(const std::string& option) const {
  const CLI::Option* parsed = parser_->get_option_no_throw(option);
  const auto found = std::ranges::find(options_, parsed, &Option::parsed_);
  return found == options_.end() ? nullptr : &*found;
}

}  // namespace gpufilter
