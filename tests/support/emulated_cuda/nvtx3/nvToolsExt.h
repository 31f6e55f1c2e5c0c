#pragma once

/// Ranges of NVIDIA's tools, in place of NVTX's header: each is noted (runtime/ranges.h).

int nvtxRangePushA(const char* name);
int nvtxRangePop();
