#include "app/features/gate_table.h"
#include "app/flags/flag_table.h"
#include "app/flags/parsed_flags.h"
#include "app/flags/text.h"

namespace denselet::app {
namespace {

constexpr size_t kIndent = 10;

constexpr std::string_view kHead =
    R"(denselet is a Kubernetes node agent: a kubelet for nodes with a thousand pods and more.

Usage:
  denselet [flags]
  denselet config check [flags] FILE...   say all that is wrong with each of these files, flags applied over it
  denselet config check [flags] --config-dir FOLDER   the same of what --config and the drop-ins there make together
  denselet config print [flags]           show the configuration in effect, and where each value comes from
  denselet help                           this text; with "config" the one about configuration
)";

constexpr std::string_view kConfigHead =
    R"(Usage:
  denselet config check [flags] FILE...
      Say all that is wrong with each of these files, and what in it has no effect. They are KubeletConfiguration or
      DenseletConfiguration; flags are applied over them. A file called *.conf is read as a drop-in.
  denselet config check [flags] --config FILE --config-dir FOLDER
      The same of what the file and the drop-ins in the folder make together.
  denselet config print [flags]
      Show the configuration in effect, and where each value comes from: default, file, drop-in or flag.
      With -o json: as the kubelet's /configz shows it.

The flags are those of the agent, which 'denselet --help' lists.
)";

bool IsZero(const FlagSpec& flag) {
  const std::string_view text = flag.default_text;
  return text.empty() || text == "false" || text == "0" || text == "0s";
}

// "  -v, --v Level", "      --version version[=true]"
std::string NameLine(const FlagSpec& flag) {
  std::string line = flag.letter == 0 ? std::string("      --")
                                      : std::string{' ', ' ', '-', flag.letter, ',', ' ', '-', '-'};
  line += flag.name;
  if (const std::string_view type = TypeName(flag.type); !type.empty()) {
    line += " " + std::string(type);
    if (!flag.WithoutValue().empty()) line += "[=" + std::string(flag.WithoutValue()) + "]";
  }
  if (!IsZero(flag)) {
    const bool text = flag.type == FlagType::kString;
    line +=
        " (default " + (text ? Quoted(flag.default_text) : std::string(flag.default_text)) + ")";
  }
  return line + "\n";
}

// In lines of at most `columns`, each behind blanks; a word that is longer has a line of its own.
void PutWrapped(std::string_view text, size_t columns, std::string& out) {
  size_t column = 0;
  for (const std::string_view word : Split(text, ' ')) {
    const bool fits = columns == 0 || column + 1 + word.size() <= columns;
    if (column != 0 && fits) {
      out += ' ';
      ++column;
    } else {
      if (column != 0) out += '\n';
      out.append(kIndent, ' ');
      column = kIndent;
    }
    out += word;
    column += word.size();
  }
  out += '\n';
}

void PutGates(std::string& out) {
  for (const std::string& line : GateHelpLines()) {
    out.append(kIndent, ' ');
    out += line + "\n";
  }
}

}  // namespace

std::string ConfigHelpText() { return std::string(kConfigHead); }

std::string HelpText(size_t columns) {
  std::string out(kHead);
  std::string_view group;
  for (const FlagSpec& flag : AllFlags()) {
    if (flag.group != group) out += "\n" + std::string(flag.group) + ":\n";
    group = flag.group;
    std::string meaning(flag.meaning);
    if (!flag.deprecation.empty()) meaning += " (DEPRECATED: " + flag.deprecation + ")";
    out += NameLine(flag);
    PutWrapped(meaning, columns, out);
    if (flag.name == "feature-gates") PutGates(out);
  }
  return out;
}

}  // namespace denselet::app
