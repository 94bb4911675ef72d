"""All that a runtime needs of secure sums, in one place: importing it loads `cryptography`."""

from fedsieve.privacy.secure_sum.cohort import SecureCohort, n_sums
from fedsieve.privacy.secure_sum.signatures import new_key
from fedsieve.privacy.secure_sum.site import Identity, Summand, SumSite
from fedsieve.privacy.secure_sum.vectors import ring_of, told_of

__all__ = ["Identity", "SecureCohort", "SumSite", "Summand", "n_sums", "new_key", "ring_of", "told_of"]
