#include "tests/tidy/repo_rules.h"

#include <array>
#include <cstddef>
#include <string>

#include "tests/tidy/cpp_text.h"
#include "tests/tidy/text.h"

namespace denselet::tidy {
namespace {

// In parts, because the whole would make this file break its own rule.
constexpr std::array<std::string_view, 3> kMachineFolders = {"work", "home", "root"};

struct Host {
  std::string_view name;
  std::string_view domain;
};

constexpr std::array<Host, 14> kRegistryHosts = {{
    {"deb", "debian.org"},
    {"security", "debian.org"},
    {"snapshot", "debian.org"},
    {"archive", "ubuntu.com"},
    {"dl-cdn", "alpinelinux.org"},
    {"proxy", "golang.org"},
    {"sum", "golang.org"},
    {"pypi", "org"},
    {"files", "pythonhosted.org"},
    {"registry", "npmjs.org"},
    {"crates", "io"},
    {"rubygems", "org"},
    {"repo.maven", "apache.org"},
    {"repo1.maven", "org"},
}};

bool IsText(std::string_view text) { return text.find('\0') == std::string_view::npos; }

// -I/path and -L/path.
bool EndsInCompilerFlag(std::string_view before) {
  const size_t size = before.size();
  if (size < 2 || before[size - 2] != '-') return false;
  return size == 2 || !IsWordCharacter(before[size - 3]);
}

// Absolute unless something stands before it that it continues: src/, ${dir}/, $(pwd)/, ~/, */.
bool IsStartOfPath(std::string_view before) {
  if (before.empty() || EndsInCompilerFlag(before)) return true;
  const char c = before.back();
  return !IsWordCharacter(c) && std::string_view("/.})~*").find(c) == std::string_view::npos;
}

// ${HOME:-...}: what a shell script falls back to where nobody set HOME.
bool IsHomeDefault(std::string_view before) { return before.ends_with("HOME:-"); }

std::string FindMachinePath(std::string_view line) {
  for (const std::string_view name : kMachineFolders) {
    std::string folder = "/" + std::string(name) + "/";
    for (size_t at = line.find(folder); at != line.npos; at = line.find(folder, at + 1)) {
      const std::string_view before = line.substr(0, at);
      if (IsStartOfPath(before) && !IsHomeDefault(before)) return folder;
    }
  }
  return "";
}

bool IsHostCharacter(char c) { return IsWordCharacter(c) || c == '-'; }

std::string FindRegistryHost(std::string_view line) {
  for (const Host& parts : kRegistryHosts) {
    std::string host = std::string(parts.name) + "." + std::string(parts.domain);
    for (size_t at = line.find(host); at != line.npos; at = line.find(host, at + 1)) {
      const std::string_view after = line.substr(at + host.size());
      if (at > 0 && IsHostCharacter(line[at - 1])) continue;
      if (!after.empty() && IsHostCharacter(after[0])) continue;
      return host;
    }
  }
  return "";
}

bool IsAllowed(std::string_view line, std::string_view what) {
  const auto allowance = FindAllowance(line);
  return allowance && allowance->what == what && !allowance->reason.empty();
}

void CheckLine(const std::string& file, int line_number, std::string_view line,
               std::vector<Violation>& violations) {
  const std::string path = FindMachinePath(line);
  if (!path.empty() && !IsAllowed(line, "machine-path")) {
    violations.push_back({file, line_number,
                          "names a path below " + path +
                              ", which other machines do not have; derive it from the root of the "
                              "repository, from $HOME or from the configuration"});
  }
  const std::string host = FindRegistryHost(line);
  if (!host.empty() && !IsAllowed(line, "registry-host")) {
    violations.push_back(
        {file, line_number,
         "names the package registry " + host +
             "; use the one this machine is configured for (apt, go env GOPROXY)"});
  }
}

// The first line that has code in it must be the pragma.
void CheckPragmaOnce(const std::string& file, std::string_view text,
                     std::vector<Violation>& violations) {
  const CppText split = SplitCppText(text);
  const std::vector<std::string_view> lines = SplitLines(split.code);
  size_t first = 0;
  while (first < lines.size() && Trim(lines[first]).empty()) ++first;
  if (first < lines.size() && Trim(lines[first]) == "#pragma once") return;
  const int line = first < lines.size() ? static_cast<int>(first) + 1 : 1;
  violations.push_back({file, line, "a header starts with #pragma once"});
}

}  // namespace

std::vector<Violation> CheckRepoFile(std::string_view path, std::string_view text) {
  if (!IsText(text)) return {};
  const std::string file(path);
  const std::vector<std::string_view> lines = SplitLines(text);
  std::vector<Violation> violations;
  for (size_t i = 0; i < lines.size(); ++i) {
    CheckLine(file, static_cast<int>(i) + 1, lines[i], violations);
  }

  if (path.starts_with("third_party/")) return violations;
  const bool is_header = path.ends_with(".h");
  if (is_header) CheckPragmaOnce(file, text, violations);
  if ((is_header || path.ends_with(".cc")) && lines.size() > kCppLinesMax) {
    violations.push_back({file, kCppLinesMax + 1,
                          "has " + std::to_string(lines.size()) + " lines, more than " +
                              std::to_string(kCppLinesMax) + "; look for the second idea in it"});
  }
  return violations;
}

}  // namespace denselet::tidy
