#include "kube/api/hash/pod_dump.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "kube/api/codec/codec.h"
#include "kube/api/types.h"

namespace denselet::kube {
namespace {

using testing::HasSubstr;
using testing::Not;

class StringSink final : public TextSink {
 public:
  void Add(std::string_view part) override { text += part; }
  std::string text;
};

// Without defaulting, which none of these depends on.
std::string Dump(std::string_view json, WrittenAs written_as = WrittenAs::kJson) {
  core::Pod pod;
  const DecodeReport report = DecodeJson(json, pod);
  EXPECT_TRUE(report.ok()) << report.ToStatus().error().message();
  const auto manifest = Manifest::Parse(json);
  StringSink sink;
  EXPECT_TRUE(manifest && DumpPod(pod, manifest->root(), written_as, sink));
  return sink.text;
}

std::string DumpSpec(const std::string& spec) { return Dump(R"({"spec":)" + spec + "}"); }

TEST(PodDump, NamesTheTypeOfEachFieldButNotOfElements) {
  const std::string text = Dump(R"({"metadata":{"name":"a","labels":{"b":"2","a":"1"}},
      "spec":{"containers":[{"name":"c","args":["x","y"]}]}})");
  EXPECT_THAT(
      text, testing::StartsWith("(*core.Pod){TypeMeta:(v1.TypeMeta){Kind:(string) "
                                "APIVersion:(string)} ObjectMeta:(v1.ObjectMeta){Name:(string)a "));
  EXPECT_THAT(text, HasSubstr("Labels:(map[string]string)map[a:1 b:2] "));
  EXPECT_THAT(text, HasSubstr("Containers:([]core.Container)[{Name:(string)c Image:(string) "
                              "Command:([]string)<nil> Args:([]string)[x y] "));
}

TEST(PodDump, TellsEmptyListsAndMapsFromNone) {
  EXPECT_THAT(DumpSpec(R"({"containers":[{"args":[]}],"nodeSelector":{}})"),
              HasSubstr("Args:([]string)[] "));
  EXPECT_THAT(DumpSpec(R"({"containers":[{"args":null}]})"), HasSubstr("Args:([]string)<nil> "));
  EXPECT_THAT(DumpSpec(R"({"nodeSelector":{}})"),
              HasSubstr("NodeSelector:(map[string]string)map[] "));
  EXPECT_THAT(DumpSpec(R"({"nodeSelector":null})"),
              HasSubstr("NodeSelector:(map[string]string)<nil> "));
}

TEST(PodDump, EmptyLimitsOfAContainerBringEmptyRequests) {
  const std::string empty = R"({"resources":{"limits":{}}})";
  constexpr char kBoth[] = "Limits:(core.ResourceList)map[] Requests:(core.ResourceList)map[] ";
  constexpr char kOne[] = "Limits:(core.ResourceList)map[] Requests:(core.ResourceList)<nil> ";
  EXPECT_THAT(DumpSpec(R"({"containers":[)" + empty + "]}"), HasSubstr(kBoth));
  EXPECT_THAT(DumpSpec(R"({"initContainers":[)" + empty + "]}"), HasSubstr(kBoth));
  EXPECT_THAT(DumpSpec(R"({"ephemeralContainers":[)" + empty + "]}"), HasSubstr(kOne));
  EXPECT_THAT(DumpSpec(empty), HasSubstr(kOne));
}

TEST(PodDump, NamespacesOfTheHostAreInTheSecurityContext) {
  EXPECT_THAT(
      DumpSpec("{}"),
      HasSubstr("SecurityContext:(*core.PodSecurityContext){HostNetwork:(bool)false "
                "HostPID:(bool)false HostIPC:(bool)false ShareProcessNamespace:(*bool)<nil> "
                "HostUsers:(*bool)<nil> SELinuxOptions:"));
  EXPECT_THAT(DumpSpec(R"({"hostNetwork":true,"hostPID":true,"hostIPC":true,
                  "shareProcessNamespace":false,"hostUsers":true})"),
              HasSubstr("SecurityContext:(*core.PodSecurityContext){HostNetwork:(bool)true "
                        "HostPID:(bool)true HostIPC:(bool)true ShareProcessNamespace:(*bool)false "
                        "HostUsers:(*bool)true SELinuxOptions:"));
}

TEST(PodDump, ServiceAccountHasOneName) {
  EXPECT_THAT(DumpSpec(R"({"serviceAccount":"old"})"),
              HasSubstr("ServiceAccountName:(string)old "));
  EXPECT_THAT(DumpSpec(R"({"serviceAccount":"old","serviceAccountName":"new"})"),
              HasSubstr("ServiceAccountName:(string)new "));
}

TEST(PodDump, NegativeGracePeriodIsASecond) {
  EXPECT_THAT(DumpSpec(R"({"terminationGracePeriodSeconds":-7})"),
              HasSubstr("TerminationGracePeriodSeconds:(*int64)1 "));
  EXPECT_THAT(DumpSpec(R"({"terminationGracePeriodSeconds":0})"),
              HasSubstr("TerminationGracePeriodSeconds:(*int64)0 "));
  EXPECT_THAT(DumpSpec("{}"), HasSubstr("TerminationGracePeriodSeconds:(*int64)<nil> "));
}

TEST(PodDump, AnnotationsOfOldInitContainersAreGone) {
  EXPECT_THAT(
      Dump(R"({"metadata":{"annotations":{"pod.alpha.kubernetes.io/init-containers":"x"}}})"),
      HasSubstr("Annotations:(map[string]string)map[] "));
}

TEST(PodDump, AddressOfThePodIsTheFirstOfItsAddresses) {
  const auto dump = [](const std::string& status) { return Dump(R"({"status":)" + status + "}"); };
  EXPECT_THAT(dump(R"({"podIP":"1"})"), HasSubstr("PodIPs:([]core.PodIP)[{IP:(string)1}] "));
  EXPECT_THAT(dump(R"({"podIP":"1","podIPs":[{"ip":"2"},{"ip":"3"}]})"),
              HasSubstr("PodIPs:([]core.PodIP)[{IP:(string)1}] "));
  EXPECT_THAT(dump(R"({"podIP":"2","podIPs":[{"ip":"2"},{"ip":"3"}]})"),
              HasSubstr("PodIPs:([]core.PodIP)[{IP:(string)2} {IP:(string)3}] "));
}

TEST(PodDump, QuantityIsWhatTheManifestMadeOfIt) {
  const auto divisor = [](const std::string& member) {
    return DumpSpec(R"({"containers":[{"env":[{"valueFrom":{"resourceFieldRef":{)" + member +
                    "}}}]}]}");
  };
  constexpr char kZeroValue[] = "s:(string) Format:(resource.Format)}";
  EXPECT_THAT(divisor(""), HasSubstr(kZeroValue));
  EXPECT_THAT(divisor(R"("divisor":null)"), HasSubstr(kZeroValue));
  EXPECT_THAT(divisor(R"("divisor":0)"),
              HasSubstr("s:(string)0 Format:(resource.Format)DecimalSI}"));
  EXPECT_THAT(divisor(R"("divisor":1.50)"),
              HasSubstr("{value:(int64)150 scale:(resource.Scale)-2}"));
}

TEST(PodDump, QuantitiesOfResourcesAreRoundedAndOthersAreNot) {
  EXPECT_THAT(
      DumpSpec(R"({"overhead":{"cpu":"1u"}})"),
      HasSubstr("Overhead:(core.ResourceList)map[cpu:{i:(resource.int64Amount){value:(int64)1 "
                "scale:(resource.Scale)-3}"));
  EXPECT_THAT(DumpSpec(R"({"volumes":[{"emptyDir":{"sizeLimit":"1u"}}]})"),
              HasSubstr("SizeLimit:(*resource.Quantity){i:(resource.int64Amount){value:(int64)1 "
                        "scale:(resource.Scale)-6}"));
}

TEST(PodDump, PortsAreNumbersOrNames) {
  const auto port = [](const std::string& value) {
    return DumpSpec(R"({"containers":[{"livenessProbe":{"tcpSocket":{"port":)" + value + "}}}]}");
  };
  EXPECT_THAT(
      port("80"),
      HasSubstr("Port:(intstr.IntOrString){Type:(intstr.Type)0 IntVal:(int32)80 StrVal:(string)}"));
  EXPECT_THAT(port(R"("80")"),
              HasSubstr("{Type:(intstr.Type)1 IntVal:(int32)0 StrVal:(string)80}"));
}

TEST(PodDump, TimesCountFromTheYearOneAndHaveTheZoneWithThem) {
  const auto created = [](const std::string& value) {
    return Dump(R"({"metadata":{"creationTimestamp":)" + value + "}}");
  };
  constexpr char kNone[] =
      "CreationTimestamp:(v1.Time){Time:(time.Time){wall:(uint64)0 ext:(int64)0 "
      "loc:(*time.Location)<nil>}}";
  EXPECT_THAT(Dump("{}"), HasSubstr(kNone));
  EXPECT_THAT(created("null"), HasSubstr(kNone));
  EXPECT_THAT(created(R"("1970-01-01T00:00:01.5Z")"),
              HasSubstr("{wall:(uint64)500000000 ext:(int64)62135596801 "
                        "loc:(*time.Location){name:(string)Local "));
  EXPECT_THAT(created(R"("0001-01-01T00:00:00Z")"),
              HasSubstr("{wall:(uint64)0 ext:(int64)0 loc:(*time.Location){name:(string)Local "));
}

// go-spew forgets a pointer only when it meets another one further out.
TEST(PodDump, ZoneIsNotPrintedTwiceWhereGoSpewTakesItForACircle) {
  const std::string time = R"("2024-01-02T03:04:05Z")";
  const std::string twice = Dump(R"({"metadata":{"creationTimestamp":)" + time +
                                 R"(,"deletionTimestamp":)" + time + "}}");
  EXPECT_THAT(twice, Not(HasSubstr("<shown>")));
  const std::string nested =
      Dump(R"({"status":{"startTime":)" + time +
           R"(,"containerStatuses":[{"state":{"running":{"startedAt":)" + time + "}}}]}}");
  EXPECT_THAT(nested, HasSubstr("StartTime:(*v1.Time){Time:(time.Time){wall:(uint64)0 "
                                "ext:(int64)63839761445 loc:(*time.Location){name:(string)Local "));
  EXPECT_THAT(nested, HasSubstr("StartedAt:(v1.Time){Time:(time.Time){wall:(uint64)0 "
                                "ext:(int64)63839761445 loc:(*time.Location)<shown>}}"));
}

TEST(PodDump, ManagedFieldsAreBytesOfJson) {
  const std::string_view json =
      R"({"metadata":{"managedFields":[{"fieldsV1": {"f:b": [1, true], "f:a": {"<": null}}}]}})";
  EXPECT_THAT(
      Dump(json, WrittenAs::kYaml),
      HasSubstr("FieldsV1:(*v1.FieldsV1){Raw:([]uint8)[123 34 102 58 97 34 58 123 34 92 117 48 48 "
                "51 99 34 58 110 117 108 108 125 44 34 102 58 98 34 58 91 49 44 116 114 117 101 "
                "93 125]}"));
  EXPECT_THAT(
      Dump(json, WrittenAs::kJson),
      HasSubstr("FieldsV1:(*v1.FieldsV1){Raw:([]uint8)[123 34 102 58 98 34 58 32 91 49 44 32 116 "
                "114 117 101 93 44 32 34 102 58 97 34 58 32 123 34 60 34 58 32 110 117 108 108 125 "
                "125]}"));
}

TEST(PodDump, WrongQuantityOfTheManifestIsAnError) {
  const auto manifest = Manifest::Parse(R"({"spec":{"overhead":{"cpu":"x"}}})");
  ASSERT_TRUE(manifest);
  core::Pod pod;
  (*pod.mutable_spec()->mutable_overhead())["cpu"].set_string("1");
  StringSink sink;
  const Status status = DumpPod(pod, manifest->root(), WrittenAs::kJson, sink);
  ASSERT_FALSE(status);
  EXPECT_THAT(status.error().message(), HasSubstr("\"cpu\""));
}

}  // namespace
}  // namespace denselet::kube
