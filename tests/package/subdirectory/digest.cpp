#include <iostream>

#include "hios/graph/fusion/coarsen.h"
#include "hios/model/networks/networks.h"

int main() {
  const hios::Model model = hios::models::squeezenet(1, 64, 64);
  std::cout << hios::coarsen(model).graph.size() << " operators\n";
}
