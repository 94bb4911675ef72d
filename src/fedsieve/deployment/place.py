"""Where a party's folder lies: somewhere no other account of the machine can put another one in its stead.

Rights on a folder keep others out of it, not out of the folder above. Who may write there moves ours away and puts
their own in its place, with commands in it that our processes would run. So all folders above must be ours or root's,
and what lies in ours too: it may have been open to others before. A number that no account of this machine has, as in
a container that sees a folder of its host, is nobody's here.
"""

import grp
import os
import pwd
import stat
import sys
from pathlib import Path

from fedsieve.errors import DataError

ROOT = 0
ACCESS_LIST = "system.posix_acl_access"


def check_place(folder: Path) -> None:
    """Refuse a folder that another account could replace or fill; one that is not there yet is judged by its place."""
    try:
        _check_place(folder)
    except OSError as error:
        raise DataError(f"{error.filename}: cannot be read: {error.strerror}.") from None


def _check_place(folder: Path) -> None:
    check_owner(folder)
    for entry in sorted(folder.iterdir()) if folder.is_dir() else ():
        check_owner(entry)
    # As it was named, for links on the way could be replaced, and as it really is.
    for above in dict.fromkeys([*folder.absolute().parents, *folder.resolve().parents]):
        if not above.is_dir():
            continue
        status = above.stat()
        if owner := _another(status):
            reason = f"belongs to {owner}"
        elif _others_write(above, status):
            reason = f"can be written by other accounts (mode {stat.S_IMODE(status.st_mode):o})"
        else:
            continue
        raise DataError(
            f"{folder}: lies in {above}, which {reason}: another folder could be put in its place. Move it to where "
            f"only you can write, such as your home, or see to it that others cannot: chmod go-w {above}"
        )


def check_owner(path: Path) -> None:
    """Refuse what another account left there, also a link; what is not there is nobody's."""
    if os.path.lexists(path) and (owner := _another(path.lstat())):
        raise DataError(f"{path}: belongs to {owner}, not to you. Find out how it came there, or choose another place.")


def _another(status: os.stat_result) -> str:
    """The name of the account that owns it, if it is neither this one nor root; empty where there is none."""
    if status.st_uid in (os.geteuid(), ROOT):
        return ""
    try:
        return f"the account {pwd.getpwuid(status.st_uid).pw_name}"
    except KeyError:
        return ""


def _others_write(folder: Path, status: os.stat_result) -> bool:
    """Whether somebody else may move away what is ours in there; where the sticky bit is set, only owners may."""
    if status.st_mode & stat.S_ISVTX:
        return False
    if status.st_mode & stat.S_IWOTH:
        return True
    return bool(status.st_mode & stat.S_IWGRP) and (_has_access_list(folder) or not _is_own_group(status.st_gid))


def _is_own_group(number: int) -> bool:
    """Whether a group is root's, or the one that many systems make for each account, with nobody else in it."""
    if number == ROOT:
        return True
    try:
        group = grp.getgrgid(number)
    except KeyError:
        return True
    try:
        own = pwd.getpwuid(os.geteuid()).pw_name
    except KeyError:
        return False
    return group.gr_name == own and set(group.gr_mem) <= {own}


def _has_access_list(folder: Path) -> bool:
    """Whether more is written down than the mode tells: then the group's rights may be those of other accounts."""
    if sys.platform != "linux":
        return False
    try:
        return ACCESS_LIST in os.listxattr(folder)
    except OSError:
        return False
