// Gradients of chains of common layers, by hand-written backward steps.
#include "train/network.hpp"

namespace mase::train {

std::unique_ptr<Network> make_chain_network(torch_frontend::Executor&, Parameters&) {
  return nullptr;
}

}  // namespace mase::train
