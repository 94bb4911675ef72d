"""People who wait are told what is asked for, whatever the request."""

from fedsieve.messages import REQUESTS


def test_every_kind_of_request_has_a_title_of_its_own():
    titles = [request.title for request in REQUESTS.values()]
    assert all(titles)
    assert len(set(titles)) == len(REQUESTS)
