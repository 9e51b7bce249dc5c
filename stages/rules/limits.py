"""Which rules of a set the measures of a page break."""

from curate.stage import Rule as Rule
from curate.stage import failures as failures
