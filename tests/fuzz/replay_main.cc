// Runs a fuzz target without libFuzzer: every file of the corpus folder, then a seeded handful of
// mutations of each, so that every test run exercises the targets with any compiler. A crash prints
// the input as hex.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "base/check.h"
#include "base/hash.h"
#include "base/random.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
extern "C" void __sanitizer_set_death_callback(void (*callback)());
#endif

namespace {

constexpr int kMutationsPerInput = 200;
constexpr size_t kInputBytesMax = 64 * 1024;

std::string current_input;

void PrintCurrentInput() {
  std::fputs("input (hex): ", stderr);
  for (const char c : current_input) std::fprintf(stderr, "%02x", static_cast<uint8_t>(c));
  std::fputc('\n', stderr);
}

void RunOne(std::string input) {
  current_input = std::move(input);
  LLVMFuzzerTestOneInput(reinterpret_cast<const uint8_t*>(current_input.data()),
                         current_input.size());
}

std::string Mutate(std::string input, const std::string& other, denselet::Random& random) {
  const uint64_t edits = 1 + random.Below(4);
  for (uint64_t i = 0; i < edits; ++i) {
    const size_t at = input.empty() ? 0 : random.Below(input.size());
    switch (random.Below(5)) {
      case 0:
        if (!input.empty()) input[at] = static_cast<char>(random.Below(256));
        break;
      case 1:
        input.insert(at, 1, static_cast<char>(random.Below(256)));
        break;
      case 2:
        if (!input.empty()) input.erase(at, 1 + random.Below(8));
        break;
      case 3:
        input.insert(at, input.substr(at, random.Below(32)));
        break;
      case 4:
        input = input.substr(0, at) + other.substr(other.empty() ? 0 : random.Below(other.size()));
        break;
    }
  }
  input.resize(std::min(input.size(), kInputBytesMax));
  return input;
}

std::vector<std::string> ReadCorpus(const char* folder) {
  std::vector<std::filesystem::path> paths;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    paths.push_back(entry.path());
  std::sort(paths.begin(), paths.end());
  std::vector<std::string> inputs;
  for (const auto& path : paths) {
    std::ifstream file(path, std::ios::binary);
    inputs.emplace_back(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
  }
  return inputs;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: %s CORPUS_FOLDER\n", argv[0]);
    return 2;
  }
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  __sanitizer_set_death_callback(PrintCurrentInput);
#endif
  // The targets' own complaints are CHECKs, which no sanitizer reports.
  denselet::SetCheckRecorder([](const denselet::CheckFailure&) { PrintCurrentInput(); });
  const std::vector<std::string> corpus = ReadCorpus(argv[1]);
  if (corpus.empty()) {
    std::fprintf(stderr, "%s holds no inputs\n", argv[1]);
    return 1;
  }
  // The seed comes from the corpus: the same tree replays the same inputs.
  uint64_t seed = 0;
  for (const std::string& input : corpus) seed = denselet::Fnv1a64(input, seed);
  denselet::SeededRandom random(seed);
  RunOne("");
  for (const std::string& input : corpus) {
    RunOne(input);
    for (int i = 0; i < kMutationsPerInput; ++i) {
      RunOne(Mutate(input, corpus[random.Below(corpus.size())], random));
    }
  }
  std::printf("%zu inputs and %zu mutations\n", corpus.size(), corpus.size() * kMutationsPerInput);
  return 0;
}
