"""What can follow a run, by the word that an agreement allows it by. A new one is a file here and a line below."""

from fedsieve.methods.collecting import Collecting
from fedsieve.methods.labeling import Labeling
from fedsieve.protocol.follow_up import FollowUp

FOLLOW_UPS: dict[str, type[FollowUp]] = {kind.name: kind for kind in (Collecting, Labeling)}
