// How the journal is, as the agent's local socket shows it. Pure.
#pragma once

#include <cstdint>
#include <string>

#include "app/local_api/json_out.h"
#include "sync/journal/journal.h"

namespace denselet::app {

// `not_understood`: records that are known here by their kind, and could not be read.
void AppendJournal(const sync::JournalReport& opening, const sync::JournalState& state,
                   uint64_t not_understood, const Moment& moment, std::string& out);

}  // namespace denselet::app
