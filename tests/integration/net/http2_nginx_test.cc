// Against a real nginx with HTTP/2 in clear, started for each test and stopped by its pid.
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "tests/integration/net/http2_fixture.h"

namespace denselet::net {
namespace {

constexpr const char* kNginx = "/usr/sbin/nginx";

class Nginx {
 public:
  explicit Nginx(const std::string& settings) {
    char name[] = "/tmp/denselet-nginx-XXXXXX";
    CHECK(::mkdtemp(name) != nullptr);
    folder_ = name;
    std::filesystem::create_directories(folder_ / "www");
    std::ofstream(folder_ / "www/small") << "small";
    std::ofstream(folder_ / "www/big") << Pattern(kBigBytes);
    std::ofstream(folder_ / "conf")
        << "load_module /usr/lib/nginx/modules/ngx_http_echo_module.so;\n"
        << "daemon off; worker_processes 1; master_process on; pid " << folder_.string()
        << "/pid;\nerror_log " << folder_.string()
        << "/error;\nevents {}\nhttp {\naccess_log off;\n"
        << "client_body_temp_path " << folder_.string() << "/body;\nclient_max_body_size 0;\n"
        << "proxy_temp_path " << folder_.string() << "/p;\nfastcgi_temp_path " << folder_.string()
        << "/f;\nuwsgi_temp_path " << folder_.string() << "/u;\nscgi_temp_path " << folder_.string()
        << "/s;\nserver {\nlisten unix:" << socket() << " http2;\nroot " << folder_.string()
        << "/www;\n"
        << settings
        << "\nlocation /upload { echo_read_request_body; echo $content_length; }\n}\n}\n";
    Start();
  }
  ~Nginx() {
    Signal(SIGTERM);
    int status = 0;
    ::waitpid(pid_, &status, 0);
    std::filesystem::remove_all(folder_);
  }

  static constexpr size_t kBigBytes = 5'000'000;

  std::string socket() const { return folder_.string() + "/socket"; }
  Address address() const { return *Address::Unix(socket()); }
  void Signal(int number) { ::kill(pid_, number); }

 private:
  void Start() {
    // A folder of root's is closed to the workers.
    std::filesystem::permissions(folder_, std::filesystem::perms(0755));
    const std::string conf = (folder_ / "conf").string(), prefix = folder_.string();
    const std::string log = (folder_ / "error").string();
    pid_ = ::fork();
    CHECK(pid_ >= 0);
    if (pid_ != 0) return;
    ::execl(kNginx, kNginx, "-p", prefix.c_str(), "-c", conf.c_str(), "-e", log.c_str(),
            static_cast<char*>(nullptr));
    ::_exit(127);
  }

  std::filesystem::path folder_;
  pid_t pid_ = -1;
};

class Http2NginxTest : public Http2Test {
 protected:
  void SetUp() override { ASSERT_EQ(::access(kNginx, X_OK), 0) << "./dev setup installs it"; }

  static Http2ClientOptions Quick() {
    Http2ClientOptions options;
    options.backoff_min = Milliseconds(2);  // nginx needs a moment to listen
    options.backoff_max = Milliseconds(20);
    return options;
  }

  void Start(Http2Client& client, std::vector<Http2Call>& calls, const char* target) {
    for (Http2Call& call : calls) {
      call.exchange = client.Start({}, Get(target), RequestBody::kNone, WhenFull::kWait, call);
    }
  }
  static size_t Ended(const std::vector<Http2Call>& calls) {
    return static_cast<size_t>(
        std::count_if(calls.begin(), calls.end(), [](const Http2Call& c) { return c.ended(); }));
  }
};
INSTANTIATE_LOOP_TEST(Http2NginxTest);

TEST_P(Http2NginxTest, ServesSmallAndBigAnswersAndErrors) {
  Nginx nginx("");
  Http2Client client(loop(), random_, Quick(), Dialler(nginx.address()));
  std::vector<Http2Call> small(1), big(3), absent(1);
  Start(client, small, "/small");
  Start(client, big, "/big");
  Start(client, absent, "/absent");
  ASSERT_TRUE(RunUntil([&] { return Ended(small) + Ended(big) + Ended(absent) == 5; }));
  EXPECT_EQ(small[0].body, "small");
  EXPECT_EQ(absent[0].Outcome(), "404");
  for (const Http2Call& call : big) EXPECT_TRUE(call.body == Pattern(Nginx::kBigBytes));
}

TEST_P(Http2NginxTest, AHeldDownloadGoesOnWhereItStopped) {
  Nginx nginx("");
  Http2Client client(loop(), random_, Quick(), Dialler(nginx.address()));
  std::vector<Http2Call> calls(1), other(1);
  Http2Call& call = calls[0];
  call.on_body = [&] {
    call.exchange->Hold();
    loop().Post([&] { call.exchange->Resume(); });
  };
  Start(client, calls, "/big");
  Start(client, other, "/small");
  ASSERT_TRUE(RunUntil([&] { return Ended(calls) + Ended(other) == 2; }));
  EXPECT_TRUE(call.body == Pattern(Nginx::kBigBytes));
}

TEST_P(Http2NginxTest, TakesAnUpload) {
  Nginx nginx("");
  Http2Client client(loop(), random_, Quick(), Dialler(nginx.address()));
  constexpr size_t kBytes = 3'000'000, kPart = 100'000;
  Http2Call call;
  HttpRequest request = Get("/upload");
  request.method = "POST";
  request.headers.Add("Content-Length", std::to_string(kBytes));
  call.exchange = client.Start({}, request, RequestBody::kStreamed, WhenFull::kWait, call);
  size_t given = 0;
  ASSERT_TRUE(RunUntil([&] {
    while (given < kBytes && call.exchange->unsent() <= Stream::kRoomBytes) {
      call.exchange->SendBody(std::string(kPart, 'u'));
      given += kPart;
      if (given == kBytes) call.exchange->EndBody();
    }
    return call.ended();
  }));
  EXPECT_EQ(call.Outcome(), "200");
  EXPECT_EQ(call.body, "3000000\n");
  EXPECT_GT(call.rooms, 0);
}

TEST_P(Http2NginxTest, ManyRequestsShareFewStreams) {
  Nginx nginx("http2_max_concurrent_streams 10;");
  Http2Client client(loop(), random_, Quick(), Dialler(nginx.address()));
  std::vector<Http2Call> calls(300);
  Start(client, calls, "/small");
  ASSERT_TRUE(RunUntil([&] { return Ended(calls) == calls.size(); }));
  for (const Http2Call& call : calls) EXPECT_EQ(call.Outcome() + call.body, "200small");
  EXPECT_EQ(client.counters().connected, 1u);
}

TEST_P(Http2NginxTest, GoAwayAfterSomeRequestsIsNotSeenByCallers) {
  Nginx nginx("keepalive_requests 20;");
  // Of a hundred sent at once each connection takes twenty.
  Http2ClientOptions options = Quick();
  options.retries_max = 10;
  Http2Client client(loop(), random_, options, Dialler(nginx.address()));
  std::vector<Http2Call> calls(200);
  Start(client, calls, "/small");
  ASSERT_TRUE(RunUntil([&] { return Ended(calls) == calls.size(); }));
  size_t good = 0;
  for (const Http2Call& call : calls) good += call.Outcome() == "200" ? 1 : 0;
  EXPECT_EQ(good, calls.size());
  EXPECT_GT(client.counters().connected, 3u);
}

TEST_P(Http2NginxTest, AReloadLetsWhatIsOpenFinish) {
  Nginx nginx("");
  Http2Client client(loop(), random_, Quick(), Dialler(nginx.address()));
  std::vector<Http2Call> big(2), after(20);
  for (Http2Call& call : big) {
    call.on_body = [&] {
      if (call.body.size() < 200'000) nginx.Signal(SIGHUP);
    };
  }
  Start(client, big, "/big");
  ASSERT_TRUE(RunUntil([&] { return Ended(big) == big.size(); }));
  Start(client, after, "/small");
  ASSERT_TRUE(RunUntil([&] { return Ended(after) == after.size(); }));
  for (const Http2Call& call : big) EXPECT_TRUE(call.body == Pattern(Nginx::kBigBytes));
  for (const Http2Call& call : after) EXPECT_EQ(call.Outcome(), "200");
}

TEST_P(Http2NginxTest, AServerThatIsKilledInMidStreamIsAnUnknownOutcome) {
  Nginx nginx("");
  Http2Client client(loop(), random_, Quick(), Dialler(nginx.address()));
  std::vector<Http2Call> calls(1);
  calls[0].on_body = [&] {
    calls[0].exchange->Hold();
    nginx.Signal(SIGTERM);
  };
  Start(client, calls, "/big");
  ASSERT_TRUE(RunUntil([&] { return calls[0].ended(); }));
  EXPECT_EQ(calls[0].error->code(), ErrorCode::kUnknownOutcome) << calls[0].Outcome();
}

}  // namespace
}  // namespace denselet::net
