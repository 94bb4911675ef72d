"""How a federation's messages travel: in one process, and as bytes."""
