"""A federation on Flower: a normal ServerApp and ClientApp, and the engine's processes behind our commands."""
