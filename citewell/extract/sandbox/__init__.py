"""The sandbox of a parser process: what it may read, write and use. The process applies it before it opens the file."""

from citewell.extract.sandbox.limits import ParserLimits
from citewell.extract.sandbox.lockdown import lock_down, readable
from citewell.extract.sandbox.namespaces import leave_network
from citewell.extract.sandbox.report import Protection, capabilities
from citewell.extract.sandbox.system import die_with_parent

__all__ = ["ParserLimits", "Protection", "capabilities", "die_with_parent", "leave_network", "lock_down", "readable"]
