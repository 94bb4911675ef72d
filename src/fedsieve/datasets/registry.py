"""The five datasets of the paper's Table 1: what they are, where they come from, which files they need."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from fedsieve.errors import ParameterError, listed

MULAN = "https://raw.githubusercontent.com/tsoumakas/mulan/43f6389095ad71984264db4387a8074b22bc7d4a/data/multi-label/"
"""The Mulan project's own copies, at a fixed commit."""


@dataclass(frozen=True)
class KnownDataset:
    """One dataset. `files` maps a file's name to its SHA-256; `rows` are the ARFF files that make up its rows.

    With an official split these are the train and the test file, which together hold all rows; `split` has their sizes.
    `k` is the number of features that the paper selects.
    """

    name: str
    domain: str
    n_samples: int
    n_features: int
    n_labels: int
    k: int
    split: tuple[int, int] | None
    rows: tuple[str, ...]
    labels: str
    files: Mapping[str, str]
    source: str


def available() -> tuple[str, ...]:
    """The names that `load` knows.

    >>> available()
    ('cal500', 'corel5k', 'emotions', 'enron', 'yeast')
    """
    return tuple(KNOWN)


def known_dataset(name: str) -> KnownDataset:
    """The dataset of that name, in upper or lower case."""
    found = KNOWN.get(name.lower()) if isinstance(name, str) else None
    if found is None:
        raise ParameterError(
            f"datasets: name must be one of {listed(available())}; got {name!r}. "
            "(The digits are load_digits(); files of your own are read by load_arff and load_table.)"
        )
    return found


_ALL = (
    KnownDataset(
        name="cal500",
        domain="music",
        n_samples=502,
        n_features=68,
        n_labels=174,
        k=27,
        split=None,
        rows=("cal500.arff",),
        labels="cal500.xml",
        files={
            "cal500.arff": "cfe6097ba5fd6e8584e54911ab9783dcab34e898446b7c9370c71d477eae56d3",
            "cal500.xml": "877e128531268d7661faa3e44f7bb43cbcda829c0895e49879168775b192728c",
        },
        source=(
            "D. Turnbull, L. Barrington, D. Torres, G. Lanckriet: Semantic Annotation and Retrieval of Music and Sound "
            "Effects. IEEE Transactions on Audio, Speech, and Language Processing 16(2), 2008."
        ),
    ),
    KnownDataset(
        name="corel5k",
        domain="images",
        n_samples=5000,
        n_features=499,
        n_labels=374,
        k=150,
        split=(4500, 500),
        rows=("Corel5k-train-sparse.arff", "Corel5k-test-sparse.arff"),
        labels="Corel5k.xml",
        files={
            "Corel5k-train-sparse.arff": "19eb253c447144bea74ffa86b4731a56022addae2ba7d0aab72ad07fdc02e9b3",
            "Corel5k-test-sparse.arff": "e8f8e9cd052c43ba7bdfdf99d242f461fc8c2a03163466d921e576887b51d8a7",
            "Corel5k.xml": "54ef6a6ccb7ca9b77524052b34b306d5d501661a5609b9d1cc7085b2b597679d",
        },
        source=(
            "P. Duygulu, K. Barnard, N. de Freitas, D. Forsyth: Object Recognition as Machine Translation: Learning a "
            "Lexicon for a Fixed Image Vocabulary. ECCV 2002."
        ),
    ),
    KnownDataset(
        name="emotions",
        domain="music",
        n_samples=593,
        n_features=72,
        n_labels=6,
        k=28,
        split=(391, 202),
        rows=("emotions-train.arff", "emotions-test.arff"),
        labels="emotions.xml",
        files={
            "emotions-train.arff": "bbe704106c79bb8fb99c1d1d2e9bde081d6a2daeb01f100862f11fd91a3c1f98",
            "emotions-test.arff": "f13d4b746b7b5c8eb484bd751d6ac463d4560dff998a93516a5c1fe35daf6c8f",
            "emotions.xml": "dbce8e6ccbbb2fcbfd9e9edbb230d7ed12692c6e13f59fdbc0161fa9b6cf2dc0",
        },
        source=(
            "K. Trohidis, G. Tsoumakas, G. Kalliris, I. Vlahavas: Multilabel Classification of Music into Emotions. "
            "ISMIR 2008."
        ),
    ),
    KnownDataset(
        name="enron",
        domain="text",
        n_samples=1702,
        n_features=1001,
        n_labels=53,
        k=100,
        split=(1123, 579),
        rows=("enron-train.arff", "enron-test.arff"),
        labels="enron.xml",
        files={
            "enron-train.arff": "2988cefc1cdf7a8004a20ef84615cc8fa1b5d7434c16687283b41454e2d9d194",
            "enron-test.arff": "2f3aad54a8f54caaab4ab01246fe9dd385ba944a2633028f52747b57eac5474e",
            "enron.xml": "ed40c92d7f613eed51714912cab10dddc4ce456262137d8fef230d44c7f4457b",
        },
        source=(
            "B. Klimt, Y. Yang: The Enron Corpus: A New Dataset for Email Classification Research. ECML 2004; "
            "labels of the UC Berkeley Enron Email Analysis Project."
        ),
    ),
    KnownDataset(
        name="yeast",
        domain="biology",
        n_samples=2417,
        n_features=103,
        n_labels=14,
        k=31,
        split=(1500, 917),
        rows=("yeast-train.arff", "yeast-test.arff"),
        labels="yeast.xml",
        files={
            "yeast-train.arff": "e759dc991ff54694a4ff9c4314f3be0d6fd2b1994a4b563f57e416394c6aebbd",
            "yeast-test.arff": "4aaac102bff9669a765bf0b378602e5cc8c3b181048282e2f003117b496d552a",
            "yeast.xml": "c3056cc26444b5158b1588d1b73bec9c45429e10f0957ad085903423cb81f247",
        },
        source="A. Elisseeff, J. Weston: A Kernel Method for Multi-Labelled Classification. NIPS 14, 2001.",
    ),
)

KNOWN: Mapping[str, KnownDataset] = MappingProxyType({dataset.name: dataset for dataset in _ALL})
