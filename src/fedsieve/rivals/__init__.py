"""The methods that the paper compares with, one file each, all under one contract: `fit(X, Y)`, then `order_`."""

from fedsieve.rivals.bmfs import BMFS
from fedsieve.rivals.d2f import D2F
from fedsieve.rivals.fimf import FIMF
from fedsieve.rivals.fsnm import FSNM
from fedsieve.rivals.grmfs import GRMFS
from fedsieve.rivals.mgfs import MGFS
from fedsieve.rivals.mlaco import MLACO
from fedsieve.rivals.mlfrs import MLFRS
from fedsieve.rivals.mlfsnrs import MLFSNRS
from fedsieve.rivals.mlnrs import MLNRS
from fedsieve.rivals.rfnmifs import RFNMIFS

__all__ = ["BMFS", "D2F", "FIMF", "FSNM", "GRMFS", "MGFS", "MLACO", "MLFRS", "MLFSNRS", "MLNRS", "RFNMIFS"]
