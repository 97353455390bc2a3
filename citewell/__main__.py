"""`python -m citewell`: the same as the command `citewell`."""

from citewell.cli import main

main()
