"""`fedsieve federation`: a consortium's commands. The operator's and the sites' engine stays out of their sight."""
