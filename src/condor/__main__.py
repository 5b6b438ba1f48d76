"""``python -m condor``: the same as ``condor``."""

from condor.cli.app import main

if __name__ == "__main__":
    main()
