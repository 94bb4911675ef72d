"""Any of enough shares give the secret; fewer fit every secret there is."""

from itertools import combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fedsieve.privacy.secure_sum.shamir import PRIME, combine, split, threshold, value_at

SECRETS = st.integers(0, 2**256 - 1)


def test_the_modulus_is_a_prime_above_all_secrets_and_the_smallest():
    assert PRIME > 2**256
    assert is_prime(PRIME)
    assert not any(is_prime(2**256 + above) for above in range(297))


def is_prime(n):
    """Miller and Rabin's test; with these 24 bases a composite passes with a chance below 2**-48."""
    small = (2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53, 59, 61, 67, 71, 73, 79, 83, 89)
    if any(n % p == 0 for p in small):
        return n in small
    odd, twos = n - 1, 0
    while odd % 2 == 0:
        odd, twos = odd // 2, twos + 1
    return all(_may_be_prime(n, base, odd, twos) for base in small)


def _may_be_prime(n, base, odd, twos):
    x = pow(base, odd, n)
    return x == 1 or any(pow(base, odd << r, n) == n - 1 for r in range(twos))


# By hand, over the integers: 1234 + 166 x + 94 x**2 (the example of the article in Wikipedia).
VECTOR = {1: 1494, 2: 1942, 3: 2578, 4: 3402, 5: 4414, 6: 5614}


def test_values_computed_by_hand():
    assert {x: value_at(x, [1234, 166, 94]) for x in VECTOR} == VECTOR
    for three in combinations(VECTOR, 3):
        assert combine({x: VECTOR[x] for x in three}) == 1234
    assert combine({1: PRIME - 1, 2: PRIME - 3}) == 1  # 1 - 2 x


@settings(max_examples=30)
@given(SECRETS, st.integers(3, 12), st.data())
def test_any_of_enough_shares_give_the_secret(secret, n, data):
    needed = threshold(n)
    shares = dict(enumerate(split(secret, n, needed), start=1))
    some = data.draw(st.permutations(sorted(shares)))[: data.draw(st.integers(needed, n))]
    assert combine({x: shares[x] for x in some}) == secret


@settings(max_examples=30)
@given(SECRETS, SECRETS, st.integers(3, 9), st.data())
def test_one_share_less_fits_every_secret(secret, other, n, data):
    """For any other secret there is one polynomial of the same degree through the shares: they say nothing."""
    needed = threshold(n)
    shares = dict(enumerate(split(secret, n, needed), start=1))
    some = data.draw(st.permutations(sorted(shares)))[: needed - 1]
    known = {x: shares[x] for x in some}
    missing = next(x for x in shares if x not in known)
    # The share that would make them those of `other`: combine is linear in it.
    at_0, at_1 = combine({**known, missing: 0}), combine({**known, missing: 1})
    fitting = (other - at_0) * pow(at_1 - at_0, -1, PRIME) % PRIME
    assert combine({**known, missing: fitting}) == other


def test_fewer_shares_give_something_else():
    shares = dict(enumerate(split(7, 5, 4), start=1))
    assert combine({x: shares[x] for x in (1, 2, 3)}) != 7


def test_two_splits_of_one_secret_differ():
    assert split(7, 5, 4) != split(7, 5, 4)


@pytest.mark.parametrize(("n", "needed"), [(3, 3), (4, 3), (5, 4), (6, 5), (9, 7), (10, 7), (100, 67)])
def test_two_groups_that_can_unmask_share_more_than_a_third(n, needed):
    assert threshold(n) == needed
    assert 3 * (2 * needed - n) > n
