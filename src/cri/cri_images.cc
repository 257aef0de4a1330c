#include "cri/cri_images.h"

#include <utility>

#include "base/quoted.h"
#include "cri/list_all.h"
#include "cri/messages.h"
#include "cri/observed_messages.h"
#include "cri/spec_messages.h"
#include "rpc/call.h"

namespace denselet::cri {

using reactor::Done;

// The client runs no Done any more when this goes.
template <class T>
Done<T> CriImages::Telling(Done<T> done) {
  return [this, done = std::move(done)](Result<T> result) mutable {
    const bool had_effect = result || result.error().code() == ErrorCode::kUnknownOutcome;
    if (had_effect && changed_) changed_();
    done(std::move(result));
  };
}

void CriImages::Find(const Context& context, const sync::ImageRequest& image,
                     Done<std::optional<sync::ObservedImage>> done) {
  pb::ImageStatusRequest request;
  Fill(image, *request.mutable_image());
  rpc::Call<pb::ImageStatusResponse, std::optional<sync::ObservedImage>>(
      client_, context, methods::kImageStatus, std::move(request),
      [asked = image.image](
          pb::ImageStatusResponse& response) -> Result<std::optional<sync::ObservedImage>> {
        if (!response.has_image()) return std::optional<sync::ObservedImage>();
        Result<sync::ObservedImage> found = ReadFoundImage(response.image(), asked);
        if (!found) return found.error();
        return std::optional(*std::move(found));
      },
      std::move(done));
}

void CriImages::Pull(const Context& context, const sync::ImageRequest& image,
                     const sync::ImageCredentials& credentials, const sync::SandboxSpec& sandbox,
                     Done<std::string> done) {
  pb::PullImageRequest request;
  Fill(image, *request.mutable_image());
  if (credentials != sync::ImageCredentials{}) Fill(credentials, *request.mutable_auth());
  Fill(sandbox, *request.mutable_sandbox_config());
  rpc::Call<pb::PullImageResponse, std::string>(
      client_, context, methods::kPullImage, std::move(request),
      [asked = image.image](pb::PullImageResponse& response) -> Result<std::string> {
        if (response.image_ref().empty()) {
          return Error(ErrorCode::kCorrupt,
                       "imageRef of image " + Quoted(asked, 256) + " is not set");
        }
        return std::move(*response.mutable_image_ref());
      },
      Telling(std::move(done)));
}

void CriImages::List(const Context& context, Done<std::vector<sync::ObservedImage>> done) {
  ListImages(client_, connection_, context, std::move(done));
}

void CriImages::Remove(const Context& context, const ImageId& image, Done<Unit> done) {
  pb::RemoveImageRequest request;
  request.mutable_image()->set_image(image.value());
  rpc::Call<pb::RemoveImageResponse, Unit>(
      client_, context, methods::kRemoveImage, std::move(request),
      [](pb::RemoveImageResponse&) -> Result<Unit> { return Unit{}; }, Telling(std::move(done)));
}

void CriImages::Filesystems(const Context& context, Done<sync::ImageFilesystems> done) {
  rpc::Call<pb::ImageFsInfoResponse, sync::ImageFilesystems>(
      client_, context, methods::kImageFsInfo, pb::ImageFsInfoRequest(),
      [](pb::ImageFsInfoResponse& response) -> Result<sync::ImageFilesystems> {
        return ReadFilesystems(response);
      },
      std::move(done));
}

}  // namespace denselet::cri
