"""Rankers whose model is a handful of arrays, kept in an npz file that is never unpickled."""

import hashlib
import io
import json
import zipfile
import zlib
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt

from ranking.rankers.base import Ranker

#: What numpy and zipfile may say of a file that is no npz archive of plain arrays.
BROKEN = (
    ValueError,
    KeyError,
    OSError,
    EOFError,
    AttributeError,
    RuntimeError,
    zipfile.BadZipFile,
    zlib.error,
)
#: The length of a comment and a digest of 64 hexadecimal digits.
_SEAL = 2 + 64


class ArrayRanker(Ranker):
    """A ranker that is its parameters and the arrays named in ``arrays``."""

    #: The learnt arrays with how many dimensions each has.
    arrays: ClassVar[dict[str, int]]

    def to_bytes(self) -> bytes:
        """An npz file: a JSON header and the arrays, nothing that could be executed."""
        header = json.dumps(self._header(), sort_keys=True).encode()
        stored = {name: getattr(self, name) for name in self.arrays}
        file = io.BytesIO()
        np.savez(file, header=np.frombuffer(header, dtype=np.uint8), **stored)
        return _seal(file.getvalue())

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Read what :meth:`to_bytes` gave; anything else is a ValueError."""
        header, stored = _read(path)
        ranker = cls._from_header(header, path)
        for name, dimensions in cls.arrays.items():
            values = stored.get(name)
            if values is None or values.ndim != dimensions or not _plain(values):
                raise ValueError(
                    f"{path} must hold {name}, finite numbers in {dimensions} dimensions. "
                    f"Got {values} instead."
                )
            setattr(ranker, name, values)
        ranker._check_arrays(path)
        return ranker

    def _check_arrays(self, path: str | Path) -> None:
        """Refuse arrays that do not fit each other or the number of features."""

    def _require_shape(self, path: str | Path, name: str, *shape: int) -> None:
        got = getattr(self, name).shape
        if got != shape:
            raise ValueError(f"{path} must hold {name} of shape {shape}. Got {got} instead.")


def read_header(path: str | Path) -> dict[str, Any]:
    """What the header of an npz model says."""
    return _read(path)[0]


def _read(path: str | Path) -> tuple[dict[str, Any], dict[str, npt.NDArray[Any]]]:
    """The header and the arrays of a model file."""
    try:
        with np.load(io.BytesIO(_unseal(Path(path).read_bytes())), allow_pickle=False) as file:
            stored = {name: file[name] for name in file.files}
        header = json.loads(stored.pop("header").tobytes())
    except FileNotFoundError:
        raise
    except BROKEN as error:
        raise ValueError(f"{path} must be a saved ranker. Got: {error}.") from error
    if not isinstance(header, dict):
        raise ValueError(f"{path} must be a saved ranker. Got the header {header!r} instead.")
    return header, stored


def _seal(archive: bytes) -> bytes:
    """The archive with its SHA-256 as the comment that a zip file may end with."""
    comment = hashlib.sha256(archive).hexdigest().encode()
    return archive[:-2] + len(comment).to_bytes(2, "little") + comment


def _unseal(sealed: bytes) -> bytes:
    """The archive inside, if it is as it was saved."""
    archive = sealed[:-_SEAL] + b"\0\0"
    if _seal(archive) != sealed:
        raise ValueError("a file that was changed after it was saved")
    return archive


def _plain(values: npt.NDArray[Any]) -> bool:
    return values.dtype.kind in "if" and bool(np.isfinite(values).all())
