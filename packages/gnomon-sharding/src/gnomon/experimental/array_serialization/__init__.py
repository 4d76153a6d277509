"""Arrays in storage, by way of TensorStore: see the module `serialization`."""
