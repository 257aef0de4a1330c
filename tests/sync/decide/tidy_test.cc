// What is kept of a pod's dead objects and what goes.
#include "sync/decide/tidy.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/sync/decide/rows.h"

namespace denselet::sync::tests {
namespace {

DECISIONS(TidyContainers,
          {
              {"TheNewestDeadOneOfANameStays", "Always c:app",
               "sb0=ready app/0=exited:1 app/1=running", "wait change"},
              {"OlderDeadOnesGo", "Always c:app",
               "sb0=ready app/0=exited:1 app/1=exited:1 app/2=exited:1 app/3=running",
               "remove app/1 app/0"},
              {"NamesAreCountedOneByOne", "Always c:a c:b",
               "sb0=ready a/0=exited:1 a/1=running b/0=exited:1 b/1=exited:1 b/2=running",
               "remove b/0"},
              {"TheFlagKeepsMore", "Always c:app",
               "keep=2 sb0=ready app/0=exited:1 app/1=exited:1 app/2=exited:1 app/3=running",
               "remove app/0"},
              {"ANegativeFlagKeepsAll", "Always c:app",
               "keep=-1 sb0=ready app/0=exited:1 app/1=exited:1 app/2=exited:1 app/3=running",
               "wait change"},
              {"NoneToKeepIsOneWhileThePodLives", "Always c:app",
               "keep=0 sb0=ready app/0=exited:1 app/1=exited:1 app/2=running", "remove app/0"},
              {"WhatIsTooYoungStaysForAWhile", "Always c:app",
               "agemin=60 age(app/0)=50 age(app/1)=40 sb0=ready app/0=exited:1 app/1=exited:1 "
               "app/2=running",
               "wait change +10s"},
              {"WhatIsOldEnoughGoes", "Always c:app",
               "agemin=60 age(app/0)=60 age(app/1)=40 sb0=ready app/0=exited:1 app/1=exited:1 "
               "app/2=running",
               "remove app/0"},
              {"AClockThatWasSetBackDelaysNoLongerThanTheAge", "Always c:app",
               "agemin=60 age(app/0)=-3600 age(app/1)=0 sb0=ready app/0=exited:1 app/1=exited:1 "
               "app/2=running",
               "wait change +1m0s"},
              {"AContainerThatRunsIsNotCounted", "Always c:app",
               "sb0=ready app/1=exited:1 app/0=running", "wait change"},
              {"OneThatIsBeingStoppedStays", "Always c:app",
               "sb0=ready app/0=exited:1 app/0.stop=inflight app/1=exited:1 app/2=running",
               "wait change"},
              {"OneThatWasMadeAndNeverRanGoes", "Always c:app",
               "sb0=ready app/0=created app/1=exited:1 app/2=running", "remove app/0"},
              {"ItTakesNobodysPlace", "Always c:app",
               "sb0=ready app/0=exited:1 app/1=created app/2=running", "remove app/1"},
              {"OneThatWasMadeBeforeOurTimeAndCameLateGoes", "Always c:app",
               "sb0=ready app/0=running app/1=created", "remove app/1"},
              {"ItsFailedRemovalIsPrecededByALook", "Always c:app",
               "sb0=ready app/0=running app/1=created app/1.remove=failed:retry=0", "read pod"},
              {"OneThatIsToBeStartedStays", "Always c:app",
               "sb0=ready app/0=exited:1 app/1=created app/1.start=failed:retry=7",
               "wait container-retry app +7s"},
              {"OneThatMayYetRunStays", "Always c:app",
               "sb0=ready app/0=created app/0.start=unknown:covered app/1=running", "wait change"},
              {"ARemovalIsWaitedFor", "Always c:app",
               "sb0=ready app/0=exited:1 app/0.remove=inflight app/1=exited:1 app/2=running",
               "wait remove"},
              {"AFailedRemovalIsTriedAgainLater", "Always c:app",
               "sb0=ready app/0=exited:1 app/0.remove=failed:retry=7 app/1=exited:1 app/2=running",
               "wait remove-retry +7s"},
          });

DECISIONS(TidySandboxes,
          {
              {"ADeadOneIsStoppedBeforeItGoes", "Always c:app",
               "sb0=notready sb1=ready app/0=running", "stop sb0"},
              {"AStoppedOneGoes", "Always c:app",
               "sb0=notready sb1=ready sb0.stop=done:covered app/0=running", "remove sb0"},
              {"TheNewestStays", "Never c:app",
               "finished settled release=done sb0=notready sb0.stop=done:covered app/0=exited:0",
               "wait removal-allowed"},
              {"OneThatAKeptContainerIsInStays", "Always c:app",
               "sb0=notready sb1=ready sb0.stop=done:covered app/0=exited:1@sb0 app/1=running",
               "wait change"},
              {"AStopThatFailedIsTriedAgainLater", "Always c:app",
               "sb0=notready sb1=ready sb0.stop=failed:retry=4 app/0=running",
               "wait sandbox-retry +4s"},
              {"ARemovalThatFailedIsTriedAgain", "Always c:app",
               "sb0=notready sb1=ready sb0.stop=done:covered sb0.remove=failed:covered:retry=0 "
               "app/0=running",
               "remove sb0"},
          });

DECISIONS(
    TidyEnded,
    {
        {"NothingGoesBeforeItsStatusArrived", "OnFailure c:app",
         "finished release=done sb0=notready sb0.stop=done:covered app/0=exited:1 app/1=exited:0",
         "wait removal-allowed"},
        {"ThenWhatIsTooMuchGoes", "OnFailure c:app",
         "finished settled release=done sb0=notready sb0.stop=done:covered app/0=exited:1 "
         "app/1=exited:0",
         "remove app/0"},
        {"ItsLogsGoWithTheLastOfIt", "Always deleted c:app", "finished removable release=done",
         "remove logs"},
        {"TheyAreWaitedFor", "Always deleted c:app", "finished removable release=done logs=busy",
         "wait release"},
        {"TheyHoldUpNobody", "Always deleted c:app",
         "finished removable release=done logs=failed:retry=30", "nothing"},
        {"LogsOfAPodThatNobodyDeletedStay", "Never c:app", "finished release=done", "nothing"},
        {"WhatCannotBeRemovedOfALeftoverIsLeft", "Always c:app",
         "terminated leftover removable release=failed:retry=30", "finished"},
    });

}  // namespace
}  // namespace denselet::sync::tests
