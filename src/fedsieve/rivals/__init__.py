"""The methods that the paper compares with, one file each, all under one contract: `fit(X, Y)`, then `order_`."""

from fedsieve.rivals.bmfs import BMFS
from fedsieve.rivals.csfs import CSFS
from fedsieve.rivals.d2f import D2F
from fedsieve.rivals.extra_trees import ExtraTrees
from fedsieve.rivals.fedcmfs import FedCMFS
from fedsieve.rivals.fimf import FIMF
from fedsieve.rivals.fmlfs import FMLFS
from fedsieve.rivals.fsnm import FSNM
from fedsieve.rivals.grmfs import GRMFS
from fedsieve.rivals.mgfs import MGFS
from fedsieve.rivals.mlaco import MLACO
from fedsieve.rivals.mlfrs import MLFRS
from fedsieve.rivals.mlfsnrs import MLFSNRS
from fedsieve.rivals.mlnrs import MLNRS
from fedsieve.rivals.rfnmifs import RFNMIFS
from fedsieve.rivals.rlsr import RLSR
from fedsieve.rivals.scfc import SCFC
from fedsieve.rivals.sfam import SFAM
from fedsieve.rivals.sfss import SFSS

__all__ = [
    "BMFS",
    "CSFS",
    "D2F",
    "FIMF",
    "FMLFS",
    "FSNM",
    "GRMFS",
    "MGFS",
    "MLACO",
    "MLFRS",
    "MLFSNRS",
    "MLNRS",
    "RFNMIFS",
    "RLSR",
    "SCFC",
    "SFAM",
    "SFSS",
    "ExtraTrees",
    "FedCMFS",
]
