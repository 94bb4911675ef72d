"""What becomes of damaged and of dishonest messages, counted. Damage and lies are those of the tests."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "tests"))
