#include "tests/sim/core/mutations.h"

namespace denselet::sim {
namespace {

template <class Put>
void OnShards(CoreAgent& agent, Put put) {
  for (uint32_t i = 0; i < agent.shards(); ++i) put(agent.shard(i));
}

template <class Put>
void OnStatuses(CoreAgent& agent, Put put) {
  for (uint32_t i = 0; i < agent.shards(); ++i) put(agent.core().statuses(i)->faults_for_tests());
}

constexpr Mutation kMutations[] = {
    {"stamp-reads-at-arrival", 2,
     [](CoreAgent& a) {
       OnShards(a, [](sync::PodShard& s) {
         s.store_for_tests().faults_for_tests().stamp_at_arrival = true;
       });
     }},
    {"stamp-lists-at-arrival", 2,
     [](CoreAgent& a) { a.pleg().faults_for_tests().epoch_after_list = true; }},
    {"hints-prove", 3,
     [](CoreAgent& a) {
       OnShards(
           a, [](sync::PodShard& s) { s.store_for_tests().faults_for_tests().hints_prove = true; });
     }},
    {"differing-lists-prove", 4,
     [](CoreAgent& a) {
       OnShards(a, [](sync::PodShard& s) {
         s.store_for_tests().faults_for_tests().list_proves_nothing = true;
       });
     }},
    {"forget-replies", 5,
     [](CoreAgent& a) {
       OnShards(a, [](sync::PodShard& s) { s.faults_for_tests().ledger.forget_done = true; });
     }},
    {"wait-passively", 6,
     [](CoreAgent& a) {
       OnShards(a, [](sync::PodShard& s) { s.faults_for_tests().worker.passive_wait = true; });
     }},
    {"unknown-is-failed", 7,
     [](CoreAgent& a) {
       OnShards(a, [](sync::PodShard& s) { s.faults_for_tests().ledger.unknown_is_failed = true; });
     }},
    {"no-tombstones", 8,
     [](CoreAgent& a) {
       OnShards(a, [](sync::PodShard& s) {
         s.store_for_tests().faults_for_tests().no_tombstones = true;
         s.faults_for_tests().worker.no_fresh_read = true;
       });
     }},
    {"remove-before-acknowledged", 14,
     [](CoreAgent& a) {
       OnShards(a, [](sync::PodShard& s) { s.faults_for_tests().worker.remove_early = true; });
     }},
    {"lists-write", 1,
     [](CoreAgent& a) {
       OnShards(
           a, [](sync::PodShard& s) { s.store_for_tests().faults_for_tests().lists_write = true; });
     }},
    {"ignore-lost-hints", 9,
     [](CoreAgent& a) { a.pleg().faults_for_tests().ignore_hints_lost = true; }},
    {"trust-before-list", 10,
     [](CoreAgent& a) { a.pleg().faults_for_tests().trust_at_once = true; }},
    {"ignore-missed-events", 11,
     [](CoreAgent& a) { a.pleg().faults_for_tests().ignore_missed = true; }},
    {"never-cross-check", 12,
     [](CoreAgent& a) { a.pleg().faults_for_tests().never_cross_check = true; }},
    {"hurry-on-hints", 12,
     [](CoreAgent& a) {
       OnShards(a, [](sync::PodShard& s) { s.faults_for_tests().worker.hurry_on_hints = true; });
     }},
    {"sandbox-is-all", 13,
     [](CoreAgent& a) {
       OnShards(a, [](sync::PodShard& s) {
         s.store_for_tests().faults_for_tests().sandbox_is_all = true;
       });
     }},
    {"start-after-end", 0,
     [](CoreAgent& a) {
       OnShards(a, [](sync::PodShard& s) { s.faults_for_tests().worker.start_after_end = true; });
     }},
    {"grace-grows", 0,
     [](CoreAgent& a) {
       OnShards(a, [](sync::PodShard& s) { s.faults_for_tests().worker.grace_grows = true; });
     }},
    {"ignore-volumes", 0,
     [](CoreAgent& a) {
       OnShards(a, [](sync::PodShard& s) { s.faults_for_tests().worker.ignore_volumes = true; });
     }},
    {"orphans-at-once", 0,
     [](CoreAgent& a) {
       OnShards(a, [](sync::PodShard& s) { s.faults_for_tests().orphans_at_once = true; });
     }},
    {"keep-all-dead-containers", 0,
     [](CoreAgent& a) {
       OnShards(a, [](sync::PodShard& s) {
         sync::NodeFacts node = s.ports().node;
         node.keep = {.per_container_max = -1};
         s.SetNode(node);
       });
     }},
    {"forget-what-was-told", 0,
     [](CoreAgent& a) { OnStatuses(a, [](auto& faults) { faults.forget_before = true; }); }},
    {"finish-early", 0,
     [](CoreAgent& a) { OnStatuses(a, [](auto& faults) { faults.finish_early = true; }); }},
    {"end-while-running", 0, [](CoreAgent& a) { a.status_faults().end_while_running = true; }},
    {"patch-without-version", 0, [](CoreAgent& a) { a.status_faults().no_version = true; }},
    {"drop-foreign-conditions", 0, [](CoreAgent& a) { a.status_faults().drop_foreign = true; }},
    {"settle-when-sent", 14, [](CoreAgent& a) { a.status_faults().settle_early = true; }},
    {"delete-before-last-status", 0, [](CoreAgent& a) { a.status_faults().delete_early = true; }},
    {"mirror-beside-the-old", 0, [](CoreAgent& a) { a.mirror_faults().keep_old = true; }},
    {"keep-orphaned-mirrors", 0, [](CoreAgent& a) { a.mirror_faults().keep_orphans = true; }},
    {"forget-admissions", 0,
     [](CoreAgent& a) { a.core().admission_for_tests().faults_for_tests().forget_records = true; }},
    {"tell-before-durable", 0,
     [](CoreAgent& a) { a.core().admission_for_tests().faults_for_tests().tell_early = true; }},
    {"admit-again", 0,
     [](CoreAgent& a) { a.core().admission_for_tests().faults_for_tests().decide_again = true; }},
    {"preempt-early", 0,
     [](CoreAgent& a) { a.core().admission_for_tests().faults_for_tests().preempt_early = true; }},
    {"forget-ends", 0,
     [](CoreAgent& a) {
       a.core().admission_for_tests().ends().faults_for_tests().forget_records = true;
     }},
    {"stop-before-journalled", 0,
     [](CoreAgent& a) {
       OnShards(a, [](sync::PodShard& s) { s.faults_for_tests().worker.stop_unrecorded = true; });
     }},
    {"release-early", 0,
     [](CoreAgent& a) { a.core().gate_for_tests().faults_for_tests().release_early = true; }},
    {"keep-room-of-dropped", 0,
     [](CoreAgent& a) { a.core().gate_for_tests().faults_for_tests().keep_room = true; }},
    {"remove-before-arrival", 14,
     [](CoreAgent& a) { OnStatuses(a, [](auto& faults) { faults.allow_unsettled = true; }); }},
};

}  // namespace

std::span<const Mutation> Mutations() { return kMutations; }

const Mutation* FindMutation(std::string_view name) {
  for (const Mutation& mutation : kMutations) {
    if (mutation.name == name) return &mutation;
  }
  return nullptr;
}

}  // namespace denselet::sim
