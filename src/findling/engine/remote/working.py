"""A worker: takes one job after another from a shared store, brings the collection's files, and publishes them.

Any number of workers may work for one store, on any machines. What a worker keeps on its disk only saves time: each
job may be any worker's.
"""

from __future__ import annotations

import os
import platform
import threading
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final

from msgspec import Struct
from msgspec.structs import replace

from findling import __version__, config
from findling.engine import remote
from findling.engine.jobs import Records
from findling.engine.library.collections import fetch_configuration
from findling.engine.library.fetching import fetch_repo
from findling.engine.library.fetching.fetch_requests import RepoRequest, checked
from findling.engine.remote.store import RemoteStore, commit_of, proposing
from findling.engine.semantics import choose
from findling.engine.store import OpenStore
from findling.model import errors
from findling.model.collection import of_folder
from findling.outbound.events import emit

if TYPE_CHECKING:
    from collections.abc import Iterator

    from findling.config import Config
    from findling.engine.jobs import RunningJob
    from findling.store.postgresql import Lease, Team

_BEAT_S: Final = 10.0
"""How often a worker tells that it still works: several times within a lease."""

_LOOK_S: Final = 2.0
"""Between two looks for a job where there was none."""

_EVERYTHING: Final = ("*",)


class Work(Struct):
    """What a worker has done by now."""

    done: int = 0
    failed: int = 0


class Worker:
    """Works for one store. ``directory``: where what is fetched stays between jobs, for all workers of this user."""

    def __init__(self, team: Team, url: str, directory: Path) -> None:
        self._team = team
        self._url = url
        self._directory = directory
        self._records = Records(directory, remembered=0, most_bytes=1 << 20)
        self._ended = threading.Event()
        self._job: RunningJob | None = None
        self.name = f"{platform.node()}:{os.getpid()}:{os.urandom(3).hex()}"
        """No other process has it, nor will: a name tells whose a job is."""

    def stop(self) -> None:
        """Give the job back and end, soon. May be called from a signal's handler."""
        self._ended.set()
        if self._job is not None:
            self._job.stop()

    def work(self, *, once: bool = False) -> Work:
        """Work until `stop`; with ``once`` until there is nothing to do. A store that does not answer is asked again,
        with ``once`` its error is raised."""
        work = Work()
        while not self._ended.is_set():
            try:
                lease = self._team.take(self.name)
                if lease is not None:
                    self._do(lease, work)
                    continue
                self._propose()
            except errors.IndexUnavailable as error:
                if once:
                    raise
                emit("store_unavailable", problem=str(error))
            if once:
                break
            self._ended.wait(_LOOK_S)
        return work

    def _propose(self) -> None:
        """Write to Milvus what it lacks, of whatever collection: it was gone, or whoever published does not use it."""
        if (engine := proposing(fetch_configuration())) is not None:
            try:
                if written := remote.bring_up(self._team.database, engine):
                    emit("milvus_written", indexes=written)
            except errors.IndexUnavailable as error:
                emit("milvus_unavailable", problem=error.message)

    def _do(self, lease: Lease, work: Work) -> None:
        emit("job_taken", collection=lease.name, attempt=lease.attempt)
        try:
            self._job = job = self._records.start("fetch", "fetch_repo", lease.collection, seldom=True)
            job.kept = False
            if self._ended.is_set():  # since the job was taken, when there was nothing yet to stop
                job.stop()
            with self._kept(lease, job):
                job.carry_out(lambda: {"published": self._published(lease, job)})
        except errors.Cancelled:
            if self._ended.is_set():
                self._team.release(lease)
            emit("job_given_up", collection=lease.name)
        except errors.IndexBusy as error:  # somebody publishes it by hand, or a writer that died is not noticed yet
            self._team.release(lease, wait=True)
            emit("job_waits", collection=lease.name, problem=str(error))
        except Exception as error:  # noqa: BLE001 - one collection's defect must not keep the others waiting
            problem = str(error) if isinstance(error, errors.FindlingError) else f"unexpected {error!r}"
            self._team.fail(lease, problem)
            work.failed += 1
            emit("job_failed", collection=lease.name, attempt=lease.attempt, problem=problem)
        else:
            work.done += 1
            emit("job_done", collection=lease.name)
        finally:
            self._job = None

    @contextmanager
    def _kept(self, lease: Lease, job: RunningJob) -> Iterator[None]:
        """Renew a lease meanwhile; a job that is not ours any more is stopped."""
        over = threading.Event()

        def renew() -> None:
            while not over.wait(_BEAT_S):
                with suppress(errors.FindlingError):  # a store that is gone for longer ends the lease
                    if not self._team.renew(lease):
                        job.stop()
                        return

        thread = threading.Thread(target=renew, daemon=True)
        thread.start()
        try:
            yield
        finally:
            over.set()
            thread.join()

    def _published(self, lease: Lease, job: RunningJob) -> str:
        """Bring the files and publish them; the commit, '' for a folder."""
        if "://" not in lease.source:
            folder = Path(lease.source)
            if not folder.is_dir():
                raise errors.RootError(f"There is no folder {lease.source!r} here.", remedy="Check the path.")
            commit = commit_of(folder, lease.ref) if lease.ref else ""
            self._fill(folder, config.load(folder).config, lease, job, commit)
            return commit
        configured = fetch_configuration()
        store = self._store(self._directory, configured, lease)
        known = lease.commit if lease.how == _how(store) else ""
        request = checked(RepoRequest(lease.source, lease.branch, include=_EVERYTHING), configured)
        assert isinstance(request, RepoRequest)
        request = replace(request, exclude=())  # what is left out is what a folder's index leaves out
        with ExitStack() as held:  # until all is published: another worker may want the folder, or its room

            def bring() -> tuple[Path, str]:
                return held.enter_context(fetch_repo.files_of(self._directory, job, request, configured.fetch, known))

            try:
                folder, commit = bring()
            except errors.StorageFull:  # what other jobs left only saves time
                fetch_repo.sweep(self._directory, lambda: [os.fspath(fetch_repo.home_of(self._directory, request))])
                folder, commit = bring()
            if commit == known:
                self._team.done(lease, commit)
            else:
                self._fill(folder, configured, lease, job, commit, is_fetched=True)
        return commit

    def _store(self, folder: Path, configured: Config, lease: Lease) -> RemoteStore:
        store = replace(configured.store, url=self._url, collections=(lease.collection,))
        base = OpenStore(of_folder(folder, self._directory), config=replace(configured, store=store))
        ref = RemoteStore(base, self._url).find_ref(lease.ref or None)
        base.collection = replace(base.collection, ref=ref)
        return RemoteStore(base, self._url)

    def _fill(
        self,
        folder: Path,
        configured: Config,
        lease: Lease,
        job: RunningJob,
        commit: str,
        *,
        is_fetched: bool = False,
    ) -> None:
        store = self._store(folder, configured, lease)
        try:
            store.fill(
                embed=True,
                on_progress=job,
                publish=True,
                copies=True,
                is_fetched=is_fetched,
                ending=lambda connection: remote.finish(connection, lease, commit, _how(store, filled=True)),
            )
        finally:
            store.close()


def _how(store: RemoteStore, *, filled: bool = False) -> str:
    """Which files a worker publishes, how it reads them, and the model of their vectors. ``filled``: they were read by
    now; then '' where the vectors that are wanted could not be made, so that the next job tries again."""
    if filled and store.semantics.enabled and store.semantics.embedder() is None:
        return ""
    configuration = store.configuration
    choice = choose(configuration.effective, None)
    model = f"{choice.provider}/{choice.model}/{choice.dimensions}"
    return f"{__version__}/{store.recipe}/{configuration.wanted.id}/{model}"
