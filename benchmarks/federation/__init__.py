"""What a federation over TLS costs: time beside an empty app on the same engine, memory, bytes on the wire."""
