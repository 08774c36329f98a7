"""The command line on a terminal and in a shell: width, colour, interrupts, settings, completion, commands to paste."""

from __future__ import annotations

import contextlib
import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from cli_process import environment, process, small_store

from semgraph import KnowledgeGraph

if os.name != "posix":
    pytest.skip("terminals and signals are other things here", allow_module_level=True)

READS = [
    ["timeline", "Maya"], ["timeline", "Maya", "works_at"], ["about", "Maya"], ["list"], ["list", "--ids"],
    ["conflicts"], ["explain", "Maya", "lives_in"], ["history", "Maya", "works_at"], ["diff", "2022", "2025"],
    ["neighbors", "Maya"], ["paths", "Maya", "Oslo"], ["match", "?who works_at ?where"], ["recall", "Where is Maya?"],
    ["entities"], ["aliases", "Maya"], ["suggest"], ["predicates"], ["stats"], ["config"], ["rejected"], ["verify"],
    ["help"], ["help", "dates"], ["help", "json"], ["value", "Maya", "works_at"],
    ["forget", "--entity", "Maya", "--dry-run"],
]  # fmt: skip


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = small_store(tmp_path_factory.mktemp("terminal") / "a.db")
    with KnowledgeGraph(path) as kg:
        long = "a rather long name of a society for the preservation of things that are long"
        kg.add("Maya", "member_of", long, valid_from="2019~", source="imported:a-file-with-a-long-name")
        kg.add("東京", "part_of", "日本 🗾", valid_from="1868")
    return path


def on_terminal(folder: Path, words: list[str], columns: int, **env: str) -> str:
    """What a process shows on a terminal so wide."""
    import fcntl
    import pty
    import struct
    import termios

    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 50, columns, 0, 0))
    plain = {key: value for key, value in environment(folder).items() if key not in {"COLUMNS", "NO_COLOR"}}
    running = subprocess.Popen(
        [sys.executable, "-m", "semgraph", *words],
        cwd=folder, env=plain | {"TERM": "xterm-256color"} | env, stdin=theirs, stdout=theirs, stderr=theirs,
        start_new_session=True,
    )  # fmt: skip
    os.close(theirs)
    shown = b""
    while True:
        try:
            part = os.read(ours, 1 << 16)
        except OSError:  # Linux says so at the end
            break
        if not part:
            break
        shown += part
    running.wait(60)
    os.close(ours)
    return shown.decode().replace("\r\n", "\n")


def unpainted(text: str) -> str:
    return re.sub(r"\x1b\[[0-9;]*m", "", text)


@pytest.fixture(scope="module")
def captures(store: Path) -> dict[tuple[str, int], str]:
    """Every reading command at 80 and at 120 columns, in colour."""
    keys = [(" ".join(words), columns, words) for words in READS for columns in (80, 120)]
    with ThreadPoolExecutor(4) as pool:
        shown = pool.map(lambda key: on_terminal(store.parent, ["--db", "a.db", *key[2]], key[1]), keys)
        return {(name, columns): text for (name, columns, _), text in zip(keys, shown, strict=True)}


@pytest.mark.parametrize("columns", [80, 120])
@pytest.mark.parametrize("words", READS, ids=" ".join)
def test_lines_fit_the_terminal(captures, words: list[str], columns: int):
    from rich.cells import cell_len

    lines = unpainted(captures[" ".join(words), columns]).splitlines()
    assert lines
    assert [line for line in lines if cell_len(line) > columns] == []


def test_a_terminal_gets_colour_and_a_pipe_the_same_words_without(captures, store: Path):
    for words in (["timeline", "Maya", "works_at"], ["conflicts"], ["explain", "Maya", "lives_in"]):
        shown = captures[" ".join(words), 80]
        assert "\x1b[" in shown
        piped = process(store.parent, "--db", "a.db", *words).stdout.decode()
        assert "\x1b" not in piped
        kept = re.sub(r"[━▶ ]+", " ", unpainted(shown)).split()
        assert sorted(kept) == sorted(re.sub(r"[━▶ ]+", " ", piped).split())


def test_colour_is_a_matter_of_choice(store: Path):
    words = ["--db", "a.db", "conflicts"]
    assert "\x1b" not in on_terminal(store.parent, words, 80, NO_COLOR="1")
    assert "\x1b" not in on_terminal(store.parent, words, 80, TERM="dumb")
    assert "\x1b" not in on_terminal(store.parent, ["--color", "never", *words], 80)
    assert "\x1b" in on_terminal(store.parent, ["--color", "always", *words], 80, NO_COLOR="1")
    assert b"\x1b" in process(store.parent, "--color", "always", *words).stdout
    assert b"\x1b" in process(store.parent, *words, env={"SEMGRAPH_COLOR": "always"}).stdout


def test_a_pipe_has_a_line_for_each_fact_however_long(store: Path):
    words, env = ["--db", "a.db", "timeline", "Maya"], {"COLUMNS": ""}
    lines = process(store.parent, *words, env=env).stdout.decode().splitlines()
    assert len(lines) == 1 + 5
    assert max(map(len, lines)) > 80
    assert lines == process(store.parent, *words, env=env).stdout.decode().splitlines()


@pytest.mark.parametrize("columns", [60, 80, 200])
def test_a_timeline_in_a_pipe_keeps_within_the_columns_that_are_set(store: Path, columns: int):
    words = ["--db", "a.db", "timeline", "Maya"]
    piped = process(store.parent, *words, env={"COLUMNS": str(columns)}).stdout.decode().splitlines()
    assert max(map(len, piped)) <= columns
    assert piped == unpainted(on_terminal(store.parent, words, columns)).splitlines()


def test_who_has_read_enough_of_the_output_is_no_error_to_tell(store: Path):
    assert "(| head)" in process(store.parent, "help", "exit").stdout.decode()
    reading, writing = os.pipe()
    os.close(reading)
    done = process(store.parent, "--db", "a.db", "list", stdout=writing)
    os.close(writing)
    assert (done.returncode, done.stderr) == (1, b"")


# -- commands to paste


def test_the_commands_that_conflicts_prints_settle_them(tmp_path: Path):
    with KnowledgeGraph(tmp_path / "it's a.db") as kg:
        for n, (subject, values) in enumerate(
            [
                ("Maya", ("Oslo", 'New York\'s "Bronx"')),
                ("-x", ("$HOME", "`a`; b")),
                ("東京", ("日本", "🗾 *")),
                ("over", ("a", "b")),
            ]
        ):
            end = {"valid_to": "2020"} if subject == "over" else {}
            for source, value in zip(("user", "tool:x"), values, strict=True):
                kg.add(subject, "lives_in", value, valid_from=f"201{n}", source=source, **end)
        kg.names.declare("Twin", label="First Twin")
        kg.names.declare("Twin", label="Second Twin")
    db = ["--db", "it's a.db"]
    shown = process(tmp_path, *db, "conflicts").stdout.decode()
    commands = [line[10:] for line in shown.splitlines() if line.startswith("  settle: ")]
    assert len(commands) == 4
    folder = tmp_path / "bin"
    folder.mkdir()
    (folder / "semgraph").write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m semgraph "$@"\n')
    (folder / "semgraph").chmod(0o755)
    path = f"{folder}{os.pathsep}{os.environ['PATH']}"
    for command in commands:
        done = subprocess.run(
            ["/bin/sh", "-c", command], cwd=tmp_path, env=environment(tmp_path) | {"PATH": path},
            capture_output=True, timeout=60, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        assert done.stdout.startswith(b"update: "), command
    assert process(tmp_path, *db, "conflicts", "--exit-code").returncode == 0


def test_an_undefined_predicate_in_conflict_tells_the_command_that_defines_it(tmp_path: Path):
    """The real way out where nobody said how many values there may be, and only there."""
    db = ["--db", "a.db"]
    for subject in ("payments", "search"):
        process(tmp_path, *db, "add", subject, "runs", "Postgres 14", "--valid-from", "2022")
        told = process(tmp_path, *db, "add", subject, "runs", "Postgres 16", "--valid-from", "2024").stdout.decode()
        assert "\n  to define: semgraph --db a.db define --cardinality one runs, or many" in told
    process(tmp_path, *db, "add", "Maya", "lives_in", "Oslo", "--valid-from", "2022", "--source", "tool:a")
    told = process(tmp_path, *db, "add", "Maya", "lives_in", "Rome", "--valid-from", "2022", "--source", "tool:b")
    assert b"conflict: " in told.stdout
    assert b"define" not in told.stdout
    shown = process(tmp_path, *db, "conflicts").stdout.decode()
    lines = [line.removeprefix("  define: ") for line in shown.splitlines() if line.startswith("  define: ")]
    assert len(lines) == 2
    command = shlex.split(lines[0].split("  ")[0])
    assert process(tmp_path, *command[1:]).returncode == 0
    shown = process(tmp_path, *db, "conflicts").stdout.decode()
    assert "Maya lives_in: " in shown
    assert "runs" not in shown
    assert process(tmp_path, *db, "value", "search", "runs").stdout == b"Postgres 16\n"


def test_a_value_that_several_bear_is_named_by_its_id(tmp_path: Path):
    with KnowledgeGraph(tmp_path / "a.db") as kg:
        twins = [kg.names.declare("Twin", label=f"{n} Twin") for n in "AB"]
        kg.names.alias("A Twin", twins[1], homonym=True)
        kg.add("team", "led_by", twins[0], valid_from="2020")
        kg.predicates.define("led_by", cardinality="one", range="entity")
        kg.add("team", "led_by", "Nora", valid_from="2020", source="tool:x")
    shown = process(tmp_path, "--db", "a.db", "conflicts").stdout.decode()
    assert f"choose {twins[0].id}\n" in shown


# -- interrupts


def interrupted(folder: Path, words: list[str], line: bytes) -> subprocess.CompletedProcess[bytes]:
    """A process that reads its input, and is interrupted while it does."""
    running = subprocess.Popen(
        [sys.executable, "-m", "semgraph", *words], cwd=folder, env=environment(folder),
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # a background job is started to ignore it
    )  # fmt: skip
    assert running.stdin is not None
    running.stdin.write(line * 5000)  # more than a pipe holds: when this is taken, it is reading
    running.stdin.flush()
    for _ in range(15):  # Python drops an interrupt that falls into a finaliser: then a person presses again
        running.send_signal(signal.SIGINT)
        try:
            running.wait(4)
            break
        except subprocess.TimeoutExpired:
            time.sleep(0.1)
    out, err = running.stdout.read(), running.stderr.read()
    for stream in (running.stdin, running.stdout, running.stderr):
        with contextlib.suppress(BrokenPipeError):
            stream.close()
    return subprocess.CompletedProcess(words, running.returncode, out, err)


def test_an_interrupt_says_what_is_kept(store: Path, tmp_path: Path):
    shutil.copy(store, tmp_path / "a.db")
    line = b'{"subject": "Nora", "predicate": "knows", "object": "Ann"}\n'
    done = interrupted(tmp_path, ["--db", "a.db", "import", "-"], line)
    assert (done.returncode, done.stdout) == (130, b"")
    assert done.stderr == b"semgraph: interrupted; nothing was written\n"
    with KnowledgeGraph(tmp_path / "a.db", read_only=True) as kg:
        assert "Nora" not in kg


# -- settings


def config(folder: Path, *words: str, **env: str) -> dict[str, dict[str, str]]:
    done = process(folder, *words, "config", "--json", env=env)
    assert done.returncode == 0, done.stderr
    found: dict[str, dict[str, str]] = json.loads(done.stdout)
    return found


def test_a_flag_counts_more_than_the_environment_and_that_more_than_the_file(tmp_path: Path):
    (tmp_path / "c.toml").write_text('scope = "file"\nsource = "tool:file"\ndb = "notes.db"\n')
    env = {"SEMGRAPH_CONFIG": "c.toml"}
    of_file = config(tmp_path, **env)
    assert of_file["scope"] == {"value": "file", "origin": "c.toml"}
    assert of_file["color"] == {"value": "auto", "origin": "built in"}
    assert config(tmp_path, **env, SEMGRAPH_SCOPE="env")["scope"] == {"value": "env", "origin": "SEMGRAPH_SCOPE"}
    assert config(tmp_path, "--scope", "flag", **env, SEMGRAPH_SCOPE="env")["scope"]["value"] == "flag"
    assert process(tmp_path, "add", "Maya", "knows", "Ann", env=env).returncode == 0
    with KnowledgeGraph(tmp_path / "notes.db", scope="file", read_only=True) as kg:
        assert [claim.source for claim in kg.claims()] == ["tool:file"]


def test_the_file_is_where_people_look_for_it(tmp_path: Path):
    from platformdirs import user_config_path

    home = Path(environment(tmp_path)["XDG_CONFIG_HOME"])
    if sys.platform != "linux" or user_config_path("semgraph", appauthor=False).name != "semgraph":
        pytest.skip("the user's folder is elsewhere here")
    (home / "semgraph").mkdir(parents=True)
    (home / "semgraph" / "config.toml").write_text('timezone = "Europe/Helsinki"\ndb = "~/my.db"\n')
    found = config(tmp_path)
    assert found["timezone"] == {"value": "Europe/Helsinki", "origin": str(home / "semgraph" / "config.toml")}
    assert found["db"]["value"] == str(Path(environment(tmp_path)["HOME"]) / "my.db")
    assert config(tmp_path, SEMGRAPH_CONFIG="")["timezone"]["origin"] == "built in"


def test_the_zone_is_that_in_which_dates_are_read(tmp_path: Path):
    add = ["add", "Maya", "knows", "Ann", "--valid-from"]
    assert process(tmp_path, "--db", "a.db", *add, "2024-03-05T09:30").returncode == 1
    done = process(tmp_path, "--db", "a.db", "--timezone", "Europe/Helsinki", *add, "2024-03-05T09:30")
    assert done.stdout == b"new: Maya knows Ann since 2024-03-05T07:30Z\n"


# -- dates in words


def test_what_was_understood_is_said_beside_the_data(tmp_path: Path):
    done = process(tmp_path, "--db", "a.db", "add", "Maya", "knows", "Ann", "--valid-from", "July 2021")
    assert done.stdout == b"new: Maya knows Ann since 2021-07\n"
    assert done.stderr == b'semgraph: understood "July 2021" as 2021-07\n'
    done = process(tmp_path, "--db", "a.db", "--at", "August 2021", "list", "--json")
    assert len(json.loads(done.stdout)) == 1
    assert done.stderr == b'semgraph: understood "August 2021" as 2021-08\n'
    done = process(tmp_path, "--db", "a.db", "diff", "the 1990s", "2022")
    assert done.stdout == b"+ Maya knows Ann since 2021-07\n"
    assert done.stderr == b'semgraph: understood "the 1990s" as 199X\n'


def test_words_from_one_date_to_another_give_both_ends(tmp_path: Path):
    add = ["--db", "a.db", "add", "Maya", "works_at", "Acme", "--valid-from", "from 2018 to 2020"]
    done = process(tmp_path, *add)
    assert done.stdout == b"new: Maya works_at Acme from 2018 until 2020\n"
    assert done.stderr == b'semgraph: understood "from 2018 to 2020" as from 2018 until 2020\n'
    assert process(tmp_path, *add, "--valid-to", "2021").returncode == 2


def test_dates_in_figures_are_not_said_back(tmp_path: Path):
    for date in ("2021", "2021-07", "2021-07-03", "2021-07-03T09:00Z", "202X", "2021~", "always", "unknown"):
        done = process(tmp_path, "--db", "a.db", "add", "Maya", "knows", "Ann", "--valid-from", date)
        assert (done.returncode, done.stderr) == (0, b""), date


# -- completion


def completed(folder: Path, shell: str, words: list[str]) -> list[str]:
    """What the shell is offered for the last word."""
    place = words[-1] if shell == "fish" else str(len(words) - 1)
    env = {"_SEMGRAPH_COMPLETE": f"{shell}_complete", "COMP_WORDS": shlex.join(words), "COMP_CWORD": place}
    done = process(folder, env=env)
    assert done.stderr == b""
    return [line.partition(",")[2] for line in done.stdout.decode().splitlines() if line]


def test_commands_options_and_names_are_completed(store: Path):
    db = ["semgraph", "--db", "a.db"]
    assert completed(store.parent, "bash", ["semgraph", "ti"]) == ["timeline"]
    assert "--valid-from" in completed(store.parent, "bash", [*db, "add", "Maya", "--valid"])
    assert completed(store.parent, "bash", [*db, "about", "may"]) == ["Maya"]
    assert completed(store.parent, "bash", [*db, "value", "Maya", "works_a"]) == ["works_at"]
    george = completed(store.parent, "fish", [*db, "about", "George"])
    assert george == ["George H. W. Bush", "George W. Bush"]
    assert completed(store.parent, "bash", ["semgraph", "--db", "none.db", "about", "M"]) == []
    assert not (store.parent / "none.db").exists()


@pytest.mark.skipif(shutil.which("bash") is None, reason="no bash here")
def test_bash_completes_a_name_with_blanks(store: Path, tmp_path: Path):
    (tmp_path / "semgraph").write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m semgraph "$@"\n')
    (tmp_path / "semgraph").chmod(0o755)
    script = (
        'eval "$(semgraph completion bash)"\n'
        "COMP_WORDS=(semgraph --db a.db about 'George\\ W'); COMP_CWORD=4\n"
        '_semgraph_completion semgraph\nprintf "%s\\n" "${COMPREPLY[@]}"\n'
    )
    env = environment(store.parent) | {"PATH": f"{tmp_path}{os.pathsep}{os.environ['PATH']}"}
    done = subprocess.run(
        [str(shutil.which("bash")), "-c", script],
        cwd=store.parent,
        env=env,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.stdout == "George\\ W.\\ Bush\n", done.stderr


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_shell_gets_its_script(tmp_path: Path, shell: str):
    done = process(tmp_path, "completion", shell)
    assert b"_SEMGRAPH_COMPLETE" in done.stdout
    assert done.returncode == 0


def test_the_words_of_the_tour_are_broken_between_words(tmp_path: Path):
    shown = on_terminal(tmp_path, ["demo"], 60)
    told = [line for line in shown.splitlines() if line.startswith("# ")]
    assert max(map(len, told)) <= 60
    assert "# A life in order of time. He took over on the day on which\n# his predecessor died.\n" in shown


def test_recall_tells_why_below_a_long_fact_and_diff_breaks_between_words(tmp_path: Path):
    with KnowledgeGraph(tmp_path / "a.db") as kg:
        kg.add("Maya", "works_at", "Stripe International", valid_from="2021-03-02", source="tool:calendar")
        kg.add("Maya", "works_at", "Linear Incorporated", valid_from="2024-06-01", source="tool:calendar")
    db = ["--db", "a.db"]
    shown = unpainted(on_terminal(tmp_path, [*db, "recall", "Where does Maya work?"], 80)).splitlines()
    fact, *why = shown
    assert fact.rstrip() == "Maya works_at Linear Incorporated since 2024-06-01  (from tool:calendar)"
    assert len(why) <= 2
    assert all(line.startswith("    ") and len(line) <= 80 for line in why)
    shown = unpainted(on_terminal(tmp_path, [*db, "diff", "2022", "2025"], 80)).splitlines()
    assert max(map(len, shown)) <= 80
    assert " ".join(line.strip() for line in shown) == (
        "~ Maya works_at Stripe International from 2021-03-02 until 2024-06-01 -> Linear Incorporated since 2024-06-01"
    )
