"""The whole of Second Opinion in one command: web, background worker, and the demo at first."""

import errno
import http.client
import os
import socket
import time
from typing import Any

from django.conf import settings
from django.core.management import call_command
from django.core.management.base import CommandError
from django.urls import reverse

from annotate import people
from annotate.management.reporting import Report, UsageError
from annotate.models import Campaign, User
from annotate.supervisor import Program, ProgramFailedError, Supervisor

EVERYWHERE = ("0.0.0.0", "::", "")  # noqa: S104  the words for it, not a choice
ANSWER_SECONDS = 60
THREADS = 8


class Command(Report):
    help = "Start web and background worker here, with the demo campaign if there is none."

    #: Whether standard output is for one JSON object only.
    quiet = False

    def work(self, options: dict[str, Any]) -> None:
        self.quiet = options["json"]
        listener = listen()
        supervisor = Supervisor()
        supervisor.listen_for_signals()
        first = self.prepare()
        try:
            self.serve(supervisor, listener, first)
            supervisor.run()
            self.tell("Stopping.")
        except ProgramFailedError as error:
            raise CommandError(str(error)) from None
        finally:
            supervisor.stop()
        self.tell("Stopped.")

    def prepare(self) -> bool:
        """Bring the database up to date. Whether this was the very first start."""
        call_command("migrate", verbosity=0, interactive=False)
        settings.STATIC_ROOT.mkdir(parents=True, exist_ok=True)
        first = settings.DEMO and not Campaign.objects.exists()
        if first:
            self.tell("First start: loading the demo campaign.")
            call_command("demo", stdout=self.stderr if self.quiet else self.stdout)
        elif not User.objects.exists():
            people.create_person("manager", role=User.Role.MANAGER)
        return first

    def serve(self, supervisor: Supervisor, listener: socket.socket, first: bool) -> None:
        supervisor.start(web(listener))
        supervisor.start(worker())
        if not wait_for_web(supervisor, listener):
            return
        self.welcome(address_of(listener))
        if first:
            supervisor.start(simulated_judges())

    def welcome(self, address: str) -> None:
        log, links = settings.DATA_DIR / "log", sign_in_links(address)
        self.tell(f"Second Opinion runs at {address}/")
        for role, link in links.items():
            self.tell(f"Sign in as a {role}, once:\n  {link}")
        self.tell(f"Logs are in {log}. Ctrl-C stops everything.")
        if self.quiet:
            facts = {"address": f"{address}/", "log": str(log), "sign_in": links}
            self.say({"json": True}, "", **facts)
            self.stdout.flush()

    def tell(self, sentence: str) -> None:
        stream = self.stderr if self.quiet else self.stdout
        stream.write(sentence, ending="\n\n", style_func=str)
        stream.flush()


def sign_in_links(address: str) -> dict[str, str]:
    """One for the first manager and the first judge. A site on the net prints none."""
    links = {}
    for role in () if settings.PRODUCTION else (User.Role.MANAGER, User.Role.JUDGE):
        user = User.objects.filter(role=role, is_active=True).order_by("pk").first()
        if user is not None:
            path = reverse("sign_in_link", args=[people.sign_in_link(user)])
            links[role.label.lower()] = f"{address}{path}"
    return links


# -- The address ----------------------------------------------------------------------------------


def listen() -> socket.socket:
    """Take the port before anything else is started, and keep it while programs come and go."""
    host, port = os.environ.get("HOST") or "127.0.0.1", os.environ.get("PORT") or "8000"
    if not port.isdecimal() or not 1 <= int(port) <= 65535:
        raise UsageError(f"PORT must be a number from 1 to 65535. Got {port!r} instead.")
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, int(port)), family=family, backlog=256)
    except OSError as error:
        other = f"Try another: make run PORT={int(port) % 65535 + 1}"
        sentences = {
            errno.EADDRINUSE: f"Port {port} of {host} is taken by another program. {other}",
            errno.EACCES: f"Port {port} needs more rights than you have. {other}",
        }
        wrong_host = f"HOST must be an address of this machine. Got {host!r} instead."
        raise CommandError(sentences.get(error.errno or 0, wrong_host)) from None


def address_of(listener: socket.socket) -> str:
    host, port = listener.getsockname()[:2]
    host = os.environ.get("HOST") or host
    if host in EVERYWHERE:
        host = "localhost"
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def allowed_hosts() -> str:
    """Whoever opens the site to the network need not also name the hosts it is reached by."""
    host = os.environ.get("HOST") or "127.0.0.1"
    if os.environ.get("ALLOWED_HOSTS") or settings.PRODUCTION:
        return ",".join(settings.ALLOWED_HOSTS)
    if host in EVERYWHERE:
        return "*"
    return ",".join([*settings.ALLOWED_HOSTS, f"[{host}]" if ":" in host else host])


# -- The programs ---------------------------------------------------------------------------------


def web(listener: socket.socket) -> Program:
    descriptor = listener.fileno()
    return Program(
        name="web server",
        arguments=[
            *("gunicorn", "config.wsgi", "--bind", f"fd://{descriptor}"),
            *("--worker-class", "gthread", "--workers", "1", "--threads", str(THREADS)),
            *("--graceful-timeout", "5", "--log-level", "warning", "--no-control-socket"),
        ],
        log=settings.DATA_DIR / "log" / "web.log",
        environment={"ALLOWED_HOSTS": allowed_hosts()},
        descriptors=[descriptor],
    )


def worker() -> Program:
    """Threads are enough: what is heavy runs in a process of its own, which the task awaits."""
    return Program(
        name="background worker",
        arguments=[
            *("celery", "-A", "config", "--quiet", "worker", "--beat"),
            *("--pool", "threads", "--concurrency", "3"),
            *("--without-gossip", "--without-mingle", "--without-heartbeat"),
        ],
        log=settings.DATA_DIR / "log" / "worker.log",
    )


def simulated_judges() -> Program:
    """They make the dashboard live while a new user looks around, and leave her pairs to judge."""
    slug = Campaign.objects.values_list("slug", flat=True).order_by("pk")[0]
    return Program(
        name="simulated judges",
        arguments=["manage", "simulate", slug, "--until", "0.6", "--per-second", "10"],
        log=settings.DATA_DIR / "log" / "simulate.log",
        once=True,
    )


def wait_for_web(supervisor: Supervisor, listener: socket.socket) -> bool:
    """Whether the first page came. False if somebody said stop meanwhile."""
    host, port = listener.getsockname()[:2]
    host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)  # noqa: S104
    end = time.monotonic() + ANSWER_SECONDS
    while not supervisor.stopping.wait(0.1):
        supervisor.look()
        if _answers(host, port):
            return True
        if time.monotonic() > end:
            raise ProgramFailedError(f"The web server does not answer after {ANSWER_SECONDS} s.")
    return False


def _answers(host: str, port: int) -> bool:
    connection = http.client.HTTPConnection(host, port, timeout=1)
    try:
        connection.request("GET", "/")
        return connection.getresponse().status < 500
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()
