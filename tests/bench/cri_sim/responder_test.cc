// Probes of pods find a real target, and see what the pod's switch says.
#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <grpcpp/generic/generic_stub.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <future>

#include "bench/cri_sim/health_session.h"
#include "reactor/net/address.h"
#include "reactor/unique_fd.h"
#include "tests/bench/cri_sim/host_fixture.h"

namespace denselet::cri_sim {
namespace {

using testing::HasSubstr;

class ResponderTest : public HostTest {
 protected:
  // The kernel chooses the port: one that was free a moment ago.
  static uint16_t FreePort() {
    const reactor::UniqueFd fd(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in address{};
    address.sin_family = AF_INET;
    socklen_t size = sizeof(address);
    EXPECT_EQ(bind(fd.get(), reinterpret_cast<sockaddr*>(&address), size), 0);
    EXPECT_EQ(getsockname(fd.get(), reinterpret_cast<sockaddr*>(&address), &size), 0);
    return ntohs(address.sin_port);
  }
  // Everything that comes back until the other side closes.
  static std::string Talk(const std::string& ip, uint16_t port, const std::string& words) {
    const reactor::UniqueFd fd(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    const net::Address address = *net::Address::Ip(ip, port);
    if (connect(fd.get(), address.get(), address.size()) != 0) return "refused";
    send(fd.get(), words.data(), words.size(), MSG_NOSIGNAL);
    std::string all;
    char buffer[4096];
    for (;;) {
      const ssize_t size = recv(fd.get(), buffer, sizeof(buffer), 0);
      if (size <= 0) return all;
      all.append(buffer, static_cast<size_t>(size));
    }
  }
  static std::string Get(const std::string& ip, uint16_t port, const std::string& path) {
    return Talk(ip, port, "GET " + path + " HTTP/1.1\r\nHost: pod\r\n\r\n");
  }
};

TEST_F(ResponderTest, HttpSeesTheHealthOfThePodWhoseAddressItAsks) {
  Start();
  const uint16_t port = FreePort();
  for (const char* name : {"one", "two"}) {
    cri::PodSandboxConfig pod = Pod(name);
    pod.add_port_mappings()->set_container_port(port);
    RunPod(pod);
  }
  EXPECT_THAT(Get("127.1.0.1", port, "/"), HasSubstr("HTTP/1.1 200"));
  host_->Run(R"({"do":"health","pod":"default/one","healthy":false})");
  EXPECT_THAT(Get("127.1.0.1", port, "/"), HasSubstr("HTTP/1.1 503"));
  EXPECT_THAT(Get("127.1.0.2", port, "/"), HasSubstr("HTTP/1.1 200"));
  EXPECT_THAT(Get("127.1.0.2", port, "/status/404"), HasSubstr("HTTP/1.1 404"));
  EXPECT_EQ(Get("127.1.0.3", port, "/"), "");  // nobody's
}

TEST_F(ResponderTest, TheHealthServiceOfGrpcAnswersOnTheSamePort) {
  Start();
  const uint16_t port = FreePort();
  cri::PodSandboxConfig pod = Pod("one");
  pod.add_port_mappings()->set_container_port(port);
  RunPod(pod);
  const auto channel =
      grpc::CreateChannel("127.1.0.1:" + std::to_string(port), grpc::InsecureChannelCredentials());
  grpc::TemplatedGenericStub<cri::StatusRequest, cri::PodSandboxStateValue> stub(channel);
  for (const bool healthy : {true, false}) {
    host_->Run(std::string(R"({"do":"health","pod":"*","healthy":)") +
               (healthy ? "true}" : "false}"));
    grpc::ClientContext context;
    // Messages of CRI serve: the request is empty, of the answer its first field is asked.
    cri::StatusRequest request;
    cri::PodSandboxStateValue response;
    std::promise<grpc::Status> answered;
    stub.UnaryCall(&context, "/grpc.health.v1.Health/Check", grpc::StubOptions(), &request,
                   &response, [&](grpc::Status status) { answered.set_value(std::move(status)); });
    const grpc::Status status = answered.get_future().get();
    ASSERT_TRUE(status.ok()) << status.error_message();
    EXPECT_EQ(static_cast<int>(response.state()), healthy ? 1 : 2);  // SERVING, NOT_SERVING
  }
}

TEST(HealthSession, RefusesWhatIsNotHttp2) {
  HealthSession session([] { return true; });
  EXPECT_FALSE(session.Feed(std::string(64, 'x')));
}

}  // namespace
}  // namespace denselet::cri_sim
