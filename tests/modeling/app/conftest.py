"""The page in a browser: Debian's Chromium, without a head."""

import os
import shutil
import signal
import socket
import subprocess
import sys
import time

import pytest

CHROMIUM = ("chromium", "chromium-browser", "google-chrome")


@pytest.fixture(scope="session")
def models():
    """Two models and their base, as the page has them."""
    from modeling.app.models import load_models

    return load_models(["stance-minilm", "senticse-minilm"])


@pytest.fixture(scope="session")
def browser():
    """Chromium; without one the test is skipped, or fails where REQUIRE_BROWSER is set."""
    path = next(filter(None, map(shutil.which, CHROMIUM)), None)
    if path is None:
        assert not os.environ.get("REQUIRE_BROWSER"), "there is no Chromium: apt-get install chromium"
        pytest.skip("there is no Chromium: apt-get install chromium")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield running
        running.close()


@pytest.fixture(scope="session")
def serve():
    """A function that starts a command that serves the page, and returns its address when it answers."""
    running = []

    def start(*words, **options):
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = free.getsockname()[1]
        environment = {**os.environ, "GRADIO_SERVER_PORT": str(port), **options.pop("env", {})}
        command = [sys.executable, *map(str, words)] + (["--port", str(port)] if "serve" in words else [])
        process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment, **options)
        running.append(process)
        line = next((line for line in process.stdout if "answers" in line), "")
        assert line, f"it ended with {process.wait()}"
        return line.split()[0]

    yield start
    for process in running:
        process.send_signal(signal.SIGTERM)
        assert process.wait(60) == 0


@pytest.fixture
def visit(browser):
    """A function that opens the page as a visitor of its own, who meets no dialog and no other server."""
    contexts, dialogs, hosts = [], [], set()

    def open_page(url):
        contexts.append(browser.new_context(accept_downloads=True))
        page = contexts[-1].new_page()
        page.on("dialog", lambda dialog: (dialogs.append(dialog.message), dialog.dismiss()))
        page.on("request", lambda request: hosts.add(request.url.split("/")[2] if "//" in request.url else "data"))
        page.goto(url)
        page.locator("#status .said").wait_for()
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert dialogs == [] and hosts <= {"data", *(host for host in hosts if host.startswith("127.0.0.1:"))}


def wait(true, seconds=60):
    """Waits until something is true, and says whether it became so."""
    end = time.monotonic() + seconds
    while not (found := true()) and time.monotonic() < end:
        time.sleep(0.05)
    return found
