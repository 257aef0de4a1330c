// The image service.
#include <algorithm>

#include "bench/cri_sim/cri_messages.h"
#include "bench/cri_sim/handlers.h"
#include "bench/cri_sim/list_method.h"
#include "bench/cri_sim/selection.h"

namespace denselet::cri_sim {
namespace {

constexpr uint64_t kBlock = 4096;

cri::Image Message(const Image& image) {
  cri::Image message;
  message.set_id(image.id);
  if (!image.tag.empty()) message.add_repo_tags(image.tag);
  message.add_repo_digests(image.digest);
  message.set_size(image.size);
  message.mutable_uid()->set_value(image.uid);
  message.mutable_spec()->set_image(image.tag.empty() ? image.digest : image.tag);
  message.set_pinned(image.pinned);
  return message;
}

uint64_t SizeOf(const Settings& settings, const std::string& name) {
  const auto found = settings.image_sizes.find(NormalizeImage(name));
  return found == settings.image_sizes.end() ? settings.image_size : found->second;
}

bool MayPull(const Settings& settings, const std::string& name, const cri::AuthConfig& auth) {
  const auto found = settings.image_users.find(NormalizeImage(name));
  if (found == settings.image_users.end()) return true;
  return auth.username() == found->second.name && auth.password() == found->second.password;
}

const Image* Find(World& world, const std::string& name) {
  const Image* const image = world.images.Find(name);
  if (image != nullptr || !world.settings.images_present || name.empty()) return image;
  if (name.starts_with("sha256:")) return nullptr;
  return &world.images.Add(name, SizeOf(world.settings, name));
}

std::vector<Image> List(World& world, const cri::ImageFilter& filter) {
  const std::string& name = filter.image().image();
  std::vector<Image> chosen;
  if (!name.empty()) {
    if (const Image* one = world.images.Find(name)) chosen.push_back(*one);
    return chosen;
  }
  for (const auto& [id, image] : world.images.all()) chosen.push_back(image);
  ShuffleIfAsked(world, chosen);
  return chosen;
}

void Status(World& world, const cri::ImageStatusRequest& request, Answer answer) {
  cri::ImageStatusResponse response;
  if (const Image* image = Find(world, request.image().image())) {
    *response.mutable_image() = Message(*image);
  }
  answer(Wire(response));
}

void Pull(World& world, const cri::PullImageRequest& request, Answer answer) {
  const std::string name = request.image().image();
  if (name.empty()) {
    world.violations.Add(world.Now(), "pull-without-image", "PullImage without a name");
    return answer(Error(ErrorCode::kInvalid, "failed to parse image reference \"\""));
  }
  if (!MayPull(world.settings, name, request.auth())) {
    return answer(Error(ErrorCode::kPermission,
                        "pull access denied, repository does not exist or may require "
                        "authorization: server message: insufficient_scope: authorization failed"));
  }
  const uint64_t size = SizeOf(world.settings, name);
  const uint64_t rate = world.settings.image_bandwidth;
  reactor::Task finish = [&world, name, size, respond = std::move(answer)]() mutable {
    cri::PullImageResponse response;
    response.set_image_ref(world.images.Add(name, size).id);
    respond(Wire(response));
  };
  if (rate == 0 || world.images.Find(name) != nullptr) return finish();
  const double seconds = static_cast<double>(size) / static_cast<double>(rate);
  const Duration time(static_cast<int64_t>(std::min(seconds, 86400.0) * 1e9));
  world.later.Run(time, std::move(finish));
}

void FileSystems(World& world, Answer answer) {
  cri::ImageFsInfoResponse response;
  const auto fill = [&](cri::FilesystemUsage& usage) {
    usage.set_timestamp(world.Now().time_since_epoch().count());
    usage.mutable_fs_id()->set_mountpoint(world.identity.image_folder);
    usage.mutable_used_bytes()->set_value(world.images.bytes());
    usage.mutable_inodes_used()->set_value(world.images.bytes() / kBlock);
  };
  fill(*response.add_image_filesystems());
  fill(*response.add_container_filesystems());
  answer(Wire(response));
}

}  // namespace

void AddImageCalls(World& world, MethodTable& table) {
  const auto list = [&](const auto& request) { return List(world, request.filter()); };
  const auto encode = [](const Image& image) { return Message(image).SerializeAsString(); };
  AddList<cri::ListImagesRequest>(table, "ListImages", list, encode);
  AddStreamedList<cri::StreamImagesRequest>(table, world.settings.streaming_lists, "StreamImages",
                                            list, encode);
  AddUnary<cri::ImageStatusRequest>(table, "ImageStatus",
                                    [&](const cri::ImageStatusRequest& request, Answer answer) {
                                      Status(world, request, std::move(answer));
                                    });
  AddUnary<cri::PullImageRequest>(table, "PullImage",
                                  [&](const cri::PullImageRequest& request, Answer answer) {
                                    Pull(world, request, std::move(answer));
                                  });
  AddUnary<cri::RemoveImageRequest>(table, "RemoveImage",
                                    [&](const cri::RemoveImageRequest& request, Answer answer) {
                                      world.images.Remove(request.image().image());
                                      answer(std::string());
                                    });
  AddUnary<cri::ImageFsInfoRequest>(table, "ImageFsInfo",
                                    [&](const cri::ImageFsInfoRequest&, Answer answer) {
                                      FileSystems(world, std::move(answer));
                                    });
}

}  // namespace denselet::cri_sim
