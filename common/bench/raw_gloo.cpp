#include "common/bench/raw_gloo.h"

#include <gloo/rendezvous/file_store.h>
#include <gloo/transport/tcp/device.h>

#include <chrono>

#include "common/base/files.h"
#include "common/comm/rendezvous/loopback.h"

namespace lab {
namespace {

using Store = std::shared_ptr<gloo::rendezvous::FileStore>;
using Device = std::shared_ptr<gloo::transport::Device>;

/// Gloo took a reference to the store until 2024, and takes a pointer since.
template <class Context>
auto connect(Context& context, const Store& store, Device& device, int)
    -> decltype(context.connectFullMesh(*store, device)) {
  return context.connectFullMesh(*store, device);
}
template <class Context>
void connect(Context& context, const Store& store, Device& device, long) {
  context.connectFullMesh(store, device);
}

}  // namespace

std::shared_ptr<gloo::rendezvous::Context> raw_gloo(const std::string& folder, int rank, int size) {
  make_folder("raw_gloo", folder);
  gloo::transport::tcp::attr attr(loopback_address().c_str());
  Device device = gloo::transport::tcp::CreateDevice(attr);
  auto context = std::make_shared<gloo::rendezvous::Context>(rank, size);
  context->setTimeout(std::chrono::minutes(5));  // others may be waiting for a peer that takes long
  connect(*context, std::make_shared<gloo::rendezvous::FileStore>(folder), device, 0);
  return context;
}

}  // namespace lab
