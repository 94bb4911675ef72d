"""`python -m fedsieve`: the command line, where the `fedsieve` command is not on the path."""

from fedsieve.cli import main

if __name__ == "__main__":
    main()
