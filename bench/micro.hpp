// Figures that are no workloads: flat joins, entering, idling.
#pragma once

namespace bench {

void run_micro(bool as_json);

}  // namespace bench
