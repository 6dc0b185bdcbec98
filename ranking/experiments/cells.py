"""Experiments as cells: each one seeded, computed once, kept in a folder, over local processes.

A cell is a frozen dataclass that says all there is to know about one small piece of an experiment,
such as one setting in one draw of one fold. What it gives is a few named arrays.
"""

import hashlib
import os
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from multiprocessing import get_context
from pathlib import Path
from typing import Any, TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

Arrays: TypeAlias = dict[str, npt.NDArray[Any]]
Shared = TypeVar("Shared")
Cell = TypeVar("Cell")
#: Called with the number of cells that are done and the number there are.
Progress: TypeAlias = Callable[[int, int], None]

#: What this worker process computes its cells with: the function and what all cells share.
_worker: list[Any] = []


def compute(
    work: Callable[[Shared, Cell], Arrays],
    shared: Shared,
    cells: Sequence[Cell],
    *,
    tag: str = "",
    cache: Path | None = None,
    processes: int = 1,
    progress: Progress | None = None,
) -> list[Arrays]:
    """``work(shared, cell)`` of every cell, in their order.

    With ``cache`` a cell that the folder has is read from it, so that a run that was stopped goes
    on where it was; ``tag`` must differ where ``shared`` does. With more than one of ``processes``
    the work goes to so many others; ``work`` must then be a function of a module.
    """
    if processes < 1:
        raise ValueError(f"processes must be at least 1. Got {processes} instead.")
    files = [None if cache is None else cache / f"{_key(work, tag, cell)}.npz" for cell in cells]
    if cache is not None:
        cache.mkdir(parents=True, exist_ok=True)
    found = [None if file is None else _read(file) for file in files]
    missing = [n for n, arrays in enumerate(found) if arrays is None]
    for done, (n, arrays) in enumerate(
        _computed(work, shared, [(n, cells[n]) for n in missing], processes), start=1
    ):
        found[n] = arrays
        file = files[n]
        if file is not None:
            _write(file, arrays)
        if progress is not None:
            progress(len(cells) - len(missing) + done, len(cells))
    return [arrays for arrays in found if arrays is not None]


def _computed(
    work: Callable[[Shared, Cell], Arrays],
    shared: Shared,
    numbered: Sequence[tuple[int, Cell]],
    processes: int,
) -> Iterator[tuple[int, Arrays]]:
    if processes == 1 or len(numbered) < 2:
        # One thread each: sums in another order are other results, and others use the machine.
        with threadpool_limits(limits=1, user_api="blas"):
            for n, cell in numbered:
                yield n, work(shared, cell)
        return
    # A forked process can hang in the threads of LightGBM, so each starts afresh.
    with ProcessPoolExecutor(
        min(processes, len(numbered)),
        mp_context=get_context("spawn"),
        initializer=_begin,
        initargs=(work, shared),
    ) as pool:
        futures = {pool.submit(_one, cell): n for n, cell in numbered}
        try:
            for future in as_completed(futures):
                yield futures[future], future.result()
        finally:
            pool.shutdown(cancel_futures=True)


def _begin(work: Callable[[Any, Any], Arrays], shared: Any) -> None:
    threading.Thread(target=_end_with_parent, args=[os.getppid()], daemon=True).start()
    threadpool_limits(limits=1, user_api="blas")
    _worker[:] = [work, shared]


def _end_with_parent(parent: int) -> None:
    """A run that is killed cannot tell its workers, who would wait for work for ever."""
    while os.getppid() == parent:
        time.sleep(1)
    os._exit(1)


def _one(cell: Any) -> Arrays:
    work, shared = _worker
    result: Arrays = work(shared, cell)
    return result


def _key(work: Callable[..., Any], tag: str, cell: object) -> str:
    spelt = f"{work.__module__}.{work.__qualname__} {tag} {cell!r}"
    return hashlib.sha256(spelt.encode()).hexdigest()[:32]


def _read(file: Path) -> Arrays | None:
    if not file.exists():
        return None
    with np.load(file, allow_pickle=False) as stored:
        return {name: stored[name] for name in stored.files}


def _write(file: Path, arrays: Arrays) -> None:
    """Whole or not at all: a run may be stopped at any time."""
    part = file.with_name(f".{file.name}.{os.getpid()}")
    with part.open("wb") as out:
        np.savez(out, **arrays)  # type: ignore[arg-type]
    part.replace(file)
