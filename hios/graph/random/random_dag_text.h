#pragma once

#include <string_view>

#include "hios/graph/random/random_dag.h"

namespace hios {

/// Returns the parameters that a text names, by keys and values:
///   - "n=200,edges=400,layers=14,p=0.8,seed=3,transfer=producer", "family=chain,width=8,n=50"
///   - "modules=10,nodes=32,wiring=ws4-0.75,channels=2,ends=weak" (er0.2, ws4-0.75, ba5)
///   - "family=regal,base=sbm,n=120" (er, ba, ws, sbm)
///   - "family=bert,layers=12,heads=12", "family=lstm,layers=4,length=32,hidden=1024"
///   - "speeds=1x4:0.25,memory=1.02,allowed=0.2,colocate=0.1" (1x4 is 1:1:1:1)
///   - "parameters=0-4000000,in-place=0.5" (bytes of an operator; a share of those with some)
/// `kind` is another word for `family`. Absent keys keep their defaults, but layers and width are
/// at most the number of operators, and bert has 12 layers, lstm 4 layers of 32 steps. Throws
/// InputError that names the key: unknown, given twice, no such value, a key that the family does
/// not have, or one that the others make impossible.
RandomDag parse_random_dag(std::string_view text);

}  // namespace hios
