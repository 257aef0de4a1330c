// The server under clients that we did not write: curl, and wrk for many at once.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdio>
#include <fstream>
#include <string>
#include <thread>

#include "tests/integration/net/http1_fixture.h"

namespace denselet::net {
namespace {

using testing::HasSubstr;
using testing::Not;

class Http1CurlTest : public Http1ServerFixture {
 protected:
  std::string Url(const std::string& target) const {
    return "http://" + address_->ToString() + target;
  }

  // What curl wrote. It gives up by itself.
  std::string Curl(const std::string& arguments) {
    return Run("curl -q --silent --show-error --max-time 15 --noproxy '*' " + arguments);
  }

  // What a command wrote, while the loop turns.
  std::string Run(const std::string& command) {
    std::string output;
    std::atomic<bool> done = false;
    std::thread child([&] {
      FILE* pipe = popen((command + " 2>&1").c_str(), "r");
      std::array<char, 4096> buffer;
      for (size_t got; (got = fread(buffer.data(), 1, buffer.size(), pipe)) > 0;) {
        output.append(buffer.data(), got);
      }
      (void)pclose(pipe);
      done = true;
    });
    EXPECT_TRUE(RunUntil([&] { return done.load(); }));
    child.join();
    return output;
  }

  std::string BigFile(size_t bytes) {
    std::string path = testing::TempDir() + "http1_curl_" + std::to_string(getpid());
    std::ofstream(path, std::ios::binary) << std::string(bytes, 'b');
    return path;
  }
};
INSTANTIATE_LOOP_TEST(Http1CurlTest);

TEST_P(Http1CurlTest, GetsAndReusesTheConnection) {
  Serve();
  const std::string output = Curl("--verbose " + Url("/") + " " + Url("/later") + " " + Url("/"));
  EXPECT_THAT(output, HasSubstr("hello"));
  EXPECT_THAT(output, HasSubstr("later"));
  EXPECT_THAT(output, HasSubstr("Re-using existing connection"));
  EXPECT_EQ(service_.requests, 3u);
}

TEST_P(Http1CurlTest, ManyConnectionsAtOnceGetEveryAnswerWhole) {
  Serve();
  const std::string output = Run("wrk -t1 -c64 -d1s " + Url("/"));
  EXPECT_THAT(output, HasSubstr("requests in"));
  EXPECT_THAT(output, Not(HasSubstr("Socket errors")));
  EXPECT_THAT(output, Not(HasSubstr("Non-2xx")));
  EXPECT_GT(service_.requests, 64u);
}

TEST_P(Http1CurlTest, HeadHasNoBody) {
  Serve();
  const std::string output = Curl("--head " + Url("/"));
  EXPECT_THAT(output, HasSubstr("Content-Length: 5"));
  EXPECT_THAT(output, Not(HasSubstr("hello")));
}

TEST_P(Http1CurlTest, UploadsWithALengthAndInChunks) {
  Serve();
  const std::string path = BigFile(3'000'000);
  EXPECT_EQ(Curl("--data-binary @" + path + " " + Url("/count")), "3000000");
  EXPECT_EQ(Curl("-H 'Transfer-Encoding: chunked' -T " + path + " " + Url("/count")), "3000000");
  (void)remove(path.c_str());
}

TEST_P(Http1CurlTest, WaitsForContinueAndGetsIt) {
  Serve();
  const std::string path = BigFile(2'000'000);
  const std::string output =
      Curl("--verbose -o /dev/null -H 'Expect: 100-continue' -T " + path + " " + Url("/count"));
  EXPECT_THAT(output, HasSubstr("100 Continue"));
  EXPECT_THAT(output, HasSubstr("200 OK"));
  (void)remove(path.c_str());
}

TEST_P(Http1CurlTest, GetsABigAnswerInChunksAndItsOwnBodyBack) {
  Serve();
  EXPECT_EQ(Curl("-o /dev/null --write-out '%{size_download}' " + Url("/flood")),
            std::to_string(TestCall::kFloodBytes));
  const std::string path = BigFile(3'000'000);
  EXPECT_EQ(Curl("-o /dev/null --write-out '%{size_download}' --data-binary @" + path + " " +
                 Url("/mirror")),
            "3000000");
  (void)remove(path.c_str());
}

TEST_P(Http1CurlTest, IsToldThatABodyIsTooLargeWhileItSendsIt) {
  Serve({.limits = {.body_bytes_max = 1000}});
  const std::string path = BigFile(5'000'000);
  EXPECT_THAT(Curl("-o /dev/null --write-out '%{http_code}' -H 'Expect:' --data-binary @" + path +
                   " " + Url("/count")),
              HasSubstr("413"));
  (void)remove(path.c_str());
}

TEST_P(Http1CurlTest, OldHttpWorks) {
  Serve();
  EXPECT_EQ(Curl("--http1.0 " + Url("/")), "hello");
  EXPECT_EQ(Curl("--http1.0 -o /dev/null --write-out '%{size_download}' " + Url("/flood")),
            std::to_string(TestCall::kFloodBytes));
}

}  // namespace
}  // namespace denselet::net
