"""What robust ranges cost on honest values, and what they save where some values are typing errors."""
