// Asks for everything that volumes are made of, at once, and answers when all has been answered.
//
// Handed from callback to callback; nobody owns it. Answers in a later turn.
#pragma once

#include "base/context.h"
#include "base/unique_function.h"
#include "managers/volume/payload.h"
#include "sync/ports/pod_objects.h"

namespace denselet::managers {

// There is something to ask for.
void FetchSources(sync::PodObjects& objects, const Context& context, const SourceWishes& wishes,
                  UniqueFunction<void(SourceAnswers)> done);

}  // namespace denselet::managers
