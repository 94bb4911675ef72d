"""No two purposes draw the same numbers from one seed: not within Sieve, and not the cases that judge it."""

from benchmarks.knockoffs.cases import SHAPES

from fedsieve.sieve.streams import Stream


def test_purposes_and_cases_have_streams_of_their_own():
    drawn = {stream: stream.rng(3, 0).random(4).tolist() for stream in Stream}
    assert len({tuple(numbers) for numbers in drawn.values()}) == len(Stream)
    streams = [shape.stream for shape in SHAPES.values()]
    assert len(set(streams)) == len(streams)
    assert Stream.KNOCKOFFS not in streams
