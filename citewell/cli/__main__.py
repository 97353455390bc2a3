"""`python -m citewell.cli`."""

from citewell.cli import main

main()
