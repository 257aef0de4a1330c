// cri_sim: a simulated container runtime on a unix socket. Runs until SIGINT, SIGTERM or the
// command `quit` of its control socket.
#include <csignal>
#include <cstdio>
#include <string>
#include <thread>
#include <vector>

#include "bench/cri_sim/ask.h"
#include "bench/cri_sim/flags.h"
#include "bench/cri_sim/host.h"

int main(int argc, char** argv) {
  using namespace denselet;
  using namespace denselet::cri_sim;
  if (argc == 4 && std::string(argv[1]) == "--ask") {
    const Result<std::string> answer = Ask(argv[2], argv[3]);
    if (!answer) std::fprintf(stderr, "cri_sim: %s\n", answer.error().message().c_str());
    if (answer) std::printf("%s\n", answer->c_str());
    return answer && answer->starts_with("{\"ok\":true") ? 0 : 1;
  }
  Result<Flags> flags = ParseFlags(std::vector<std::string>(argv + 1, argv + argc));
  if (!flags) {
    std::fprintf(stderr, "cri_sim: %s; --help tells all flags\n", flags.error().message().c_str());
    return 2;
  }
  if (flags->help) {
    std::fputs(kUsage, stdout);
    return 0;
  }
  // Before there are threads, so that all of them leave these signals to the one that waits.
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGINT);
  sigaddset(&signals, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  std::signal(SIGPIPE, SIG_IGN);

  auto host = Host::Start(flags->host);
  if (!host) {
    std::fprintf(stderr, "cri_sim: %s\n", host.error().message().c_str());
    return 1;
  }
  if (flags->populate_pods > 0) {
    const std::string answer =
        (*host)->Run("{\"do\":\"populate\",\"pods\":" + std::to_string(flags->populate_pods) +
                     ",\"containers\":" + std::to_string(flags->populate_containers) + "}");
    if (!answer.starts_with("{\"ok\":true")) {
      std::fprintf(stderr, "cri_sim: --populate: %s\n", answer.c_str());
      return 2;
    }
  }
  std::printf("serving on %s\n", flags->host.socket.c_str());
  std::fflush(stdout);
  std::thread waiter([&] {
    int signal = 0;
    sigwait(&signals, &signal);
    (*host)->RequestQuit();
  });
  (*host)->WaitForQuit();
  pthread_kill(waiter.native_handle(), SIGTERM);  // it may still wait
  waiter.join();
  return 0;
}
