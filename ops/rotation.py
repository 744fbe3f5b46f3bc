"""`coinslot-ops rotate-key`: a new sealing key, with the old one kept as the previous.

Nothing is lost at any moment: the old key is on the disk under its second name before the new one takes its first. A run that
was interrupted is simply repeated.
"""

import os
import secrets
import stat
from pathlib import Path

from ops.queries import Failed
from shared.sealing.answers import ANSWER_TTL_S
from shared.sealing.keys import previous_key_file
from shared.settings.secret_files import read_key
from shared.settings.service import PREFIX, Settings

RECORD_DAYS = 30
"""How long a payment's fingerprint is kept (api/payment/transitions.py)."""


class NotRotated(Failed):
    """The files are as they were. The text says why."""

    code = 2


def report(settings: Settings) -> int:
    """Rotate, and print what is to be done next. Returns the exit code. Raises as `rotate`."""
    rotate(settings.key_file, previous_key_file(settings))
    print(_next_steps(settings))
    return 0


def rotate(key_file: Path, previous: Path) -> None:
    """Put a new key into the key file, and the old one into `previous`.

    Raises:
        InvalidSetting: the key file cannot be read or holds no key.
        NotRotated: there is a previous key still, or a file cannot be written.
    """
    key = read_key(key_file)
    if key_file.is_symlink() or previous.is_symlink():
        raise NotRotated(
            f"{key_file} is a symbolic link: whoever made it has to make the new file, as docs/security.md says"
        )
    if previous.exists() and read_key(previous) != key:
        raise NotRotated(
            f"{previous} still holds an earlier key, and there is room for one: destroy it when nothing needs it any more"
        )
    try:
        like = key_file.stat()
        if not previous.exists():
            _write(previous, key.hex(), like)
        _write(key_file, secrets.token_hex(32), like)
    except OSError as error:
        raise NotRotated(f"cannot write the key files in {key_file.parent}: {error.strerror}") from None


def _write(path: Path, text: str, like: os.stat_result) -> None:
    """Whole or not at all, and on the disk when it returns. Owner and group as of the present key file; no others can read."""
    draft = path.with_name(f"{path.name}.new")
    draft.unlink(missing_ok=True)
    with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
        file.write(text + "\n")
        made = os.fstat(file.fileno())
        if (made.st_uid, made.st_gid) != (like.st_uid, like.st_gid):
            os.fchown(file.fileno(), like.st_uid, like.st_gid)
        os.fchmod(file.fileno(), 0o440 if stat.S_IMODE(like.st_mode) & 0o040 else 0o600)
        file.flush()
        os.fsync(file.fileno())
    draft.replace(path)
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def _next_steps(settings: Settings) -> str:
    previous = previous_key_file(settings)
    days = max(RECORD_DAYS, settings.observation_days)
    return f"""{settings.key_file} holds a new key, and {previous} the one before it. Now, in this order:
1. Copy both files to the other machines.
2. Restart all workers. They open what was sealed with either key.
3. When all workers have the new key, restart every API process. (scripts/run: `coinslot-ops restart` does 2 and 3.)
   The facilitator reads neither file.
4. Run `coinslot-ops doctor`.
5. After {days:g} days nothing needs {previous} any more: destroy it, and restart workers and API.
   Answers need it for {ANSWER_TTL_S // 3600} hours, records of payments for {RECORD_DAYS} days, observations for {
        settings.observation_days:g} days.
   If somebody has seen the key, destroy it after {ANSWER_TTL_S // 3600} hours.
   If {PREFIX}PREVIOUS_KEY_FILE is set, remove that setting as well."""
