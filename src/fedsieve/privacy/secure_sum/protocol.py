"""All that a runtime needs of secure sums, in one place: importing it loads `cryptography`."""

from fedsieve.privacy.secure_sum.cohort import SecureCohort, n_sums
from fedsieve.privacy.secure_sum.signatures import new_key
from fedsieve.privacy.secure_sum.site import Identity, SumSite
from fedsieve.privacy.secure_sum.vectors import reply_of, ring_of

__all__ = ["Identity", "SecureCohort", "SumSite", "n_sums", "new_key", "reply_of", "ring_of"]
