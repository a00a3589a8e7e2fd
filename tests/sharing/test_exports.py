"""The twins of a permalink: pictures by the page's own code, the offline file, the frame, oEmbed and OpenGraph."""

import json
import re
import shutil
import struct
import subprocess
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from gradbox.pictures.built_files import offline_files
from gradbox.pictures.renderer_process import FontFamilies, svg_to_png
from server.pictures import renderer_client
from server.pictures.renderer_client import Renderer
from tests.sharing.test_saved_programs import code, saved, visiting
from tests.support.databases import DatabaseFactory
from tests.support.waiting import wait_until

pytest_plugins = ["tests.support.databases"]

ROOT = Path(__file__).parents[2]
PUBLIC = "https://gradbox.example.org/box"
HOSTILE = "</title><script>alert(1)</script><img src=x onerror=alert(2)>\"'&\u2028]]>"
PROGRAM = "a = torch.tensor([1., 2.], requires_grad=True)\nb = a.clone()\nb.sum().backward()\n"
OVERWRITTEN = "x = torch.ones(2, requires_grad=True)\ny = x.exp()\ny.add_(1)\ny.sum().backward()\n"
SVG = "{http://www.w3.org/2000/svg}"
FREE: dict[str, Any] = {"picture_limit": "100000/minute", "hosts": "127.0.0.1,gradbox.example.org"}

needs_page = pytest.mark.skipif(not (ROOT / "static/dist/exports.js").exists(), reason="the page is not built")
pytestmark = [needs_page, pytest.mark.slow]


@pytest.fixture(scope="module")
def client(new_database: DatabaseFactory) -> Iterator[TestClient]:
    with visiting(new_database("sqlite"), public_url=PUBLIC, **FREE) as client:
        yield client


def size(png: bytes) -> tuple[int, int]:
    assert png.startswith(b"\x89PNG\r\n\x1a\n")
    width, height = struct.unpack(">II", png[16:24])
    return width, height


def by_node(jobs: list[list[Any]]) -> list[str]:
    done = subprocess.run(
        ["node", "--import", "./static/typescript.mjs", "tests/pictures/draw.mjs"],
        input=json.dumps(jobs),
        capture_output=True,
        text=True,
        cwd=ROOT,
    )
    assert done.returncode == 0, done.stderr
    drawn: list[str] = json.loads(done.stdout)
    return drawn


def test_a_picture_is_what_the_stages_own_code_draws(client: TestClient) -> None:
    program = saved(client, source=PROGRAM, title="clone")
    trace = client.get(f"/s/{program.id}.trace.json").json()
    looks = [{"theme": theme, "language": language} for theme in ("light", "dark") for language in ("en", "zh")]
    steps = [0, 1, len(trace["steps"]) - 1]
    jobs = [["step", trace, i, look] for i in steps for look in looks]
    expected = by_node([*jobs, *(["loom", trace, None, look] for look in looks)])
    asked = [f"?step={i}&theme={look['theme']}&lang={look['language']}" for i in steps for look in looks]
    asked += [f"?theme={look['theme']}&lang={look['language']}" for look in looks]
    for query, picture in zip(asked, expected, strict=True):
        answer = client.get(f"/s/{program.id}.svg{query}")
        assert answer.status_code == 200 and answer.headers["content-type"].startswith("image/svg+xml")
        assert answer.text == picture, query


def test_a_picture_speaks_the_scenarios_language(client: TestClient) -> None:
    program = saved(client, source=PROGRAM, language="zh")
    assert 'xml:lang="zh"' in client.get(f"/s/{program.id}.svg?step=1").text
    assert 'xml:lang="en"' in client.get(f"/s/{program.id}.svg?step=1&lang=en").text


def test_a_png_is_the_svg_at_twice_its_size(client: TestClient) -> None:
    program = saved(client, source=PROGRAM)
    for query in ("", "?step=1", "?step=1&theme=dark"):
        root = ET.fromstring(client.get(f"/s/{program.id}.svg{query}").text)
        width, height = (int(root.attrib[name]) for name in ("width", "height"))
        answer = client.get(f"/s/{program.id}.png{query}")
        assert answer.headers["content-type"] == "image/png"
        assert size(answer.content) == (2 * width, 2 * height)
    assert size(client.get(f"/s/{program.id}.card.png").content) == (1200, 630)
    light, dark = (client.get(f"/s/{program.id}.png?step=1&theme={theme}").content for theme in ("light", "dark"))
    assert light != dark


@pytest.mark.slow
def test_a_heavy_picture_is_painted_on_fewer_pixels() -> None:
    fonts = FontFamilies("DejaVu Sans", "DejaVu Sans Mono")
    line = '<path d="M0 0L9 9"/>'
    for lines, pixels in ((1, 12e6), (50_000, 3e6)):
        picture = f'<svg xmlns="http://www.w3.org/2000/svg" width="4000" height="4000">{line * lines}</svg>'
        width, height = size(svg_to_png(picture, fonts))
        assert 0.99 * pixels < width * height <= 1.01 * pixels


@pytest.mark.parametrize("tail", [".svg", ".png", ".card.png", ".html"])
def test_a_step_that_is_not_there_is_named(client: TestClient, tail: str) -> None:
    program = saved(client, source=PROGRAM)
    count = len(client.get(f"/s/{program.id}.trace.json").json()["steps"])
    answer = client.get(f"/s/{program.id}{tail}?step={count}")
    assert code(answer) == (404, "no_step")
    assert answer.json()["error"]["message"] == f"there is no step {count}; this trace has 0 to {count - 1}"
    assert code(client.get(f"/s/{program.id}{tail}?step=-1"))[0] == 422
    assert code(client.get(f"/s/2222222222{tail}")) == (404, "no_scenario")


def test_a_program_that_was_not_run_has_a_picture_too(client: TestClient) -> None:
    program = saved(client, source="x = eval('w.pt')\nprint(x)\n")
    for query in ("", "?lang=zh"):
        texts = [
            element.text or ""
            for element in ET.fromstring(client.get(f"/s/{program.id}.svg{query}").text).iter(f"{SVG}text")
        ]
        assert "x = eval('w.pt')" in texts
        assert any("eval" in text and text != "x = eval('w.pt')" for text in texts)
    assert code(client.get(f"/s/{program.id}.svg?step=0")) == (404, "no_step")
    assert size(client.get(f"/s/{program.id}.card.png").content) == (1200, 630)
    assert client.get(f"/s/{program.id}.html").status_code == client.get(f"/embed/{program.id}").status_code == 200


def test_an_error_appears_once_in_its_picture(client: TestClient) -> None:
    program = saved(client, source="x = torch.ones(2)\nx.foo\n")
    step = len(client.get(f"/s/{program.id}.trace.json").json()["steps"]) - 1
    root = ET.fromstring(client.get(f"/s/{program.id}.svg?step={step}").text)
    sentences = [element.text or "" for element in root.iter(f"{SVG}text") if "AttributeError" in (element.text or "")]
    assert len(sentences) == 1


def test_a_very_long_caption_is_cut(client: TestClient) -> None:
    program = saved(client, source=f"x = os.{'a' * 50_000}\n")
    root = ET.fromstring(client.get(f"/s/{program.id}.svg?step=0").text)
    assert int(root.attrib["height"]) < 1500
    assert sum((element.text or "").endswith("…") for element in root.iter(f"{SVG}text")) == 1


def test_exported_documents_are_sandboxed(client: TestClient) -> None:
    program = saved(client, source=PROGRAM)
    svg = client.get(f"/s/{program.id}.svg")
    assert svg.headers["content-security-policy"] == "default-src 'none'; style-src 'unsafe-inline'; sandbox"
    html = client.get(f"/s/{program.id}.html")
    assert html.headers["content-disposition"] == f'attachment; filename="gradbox-{program.id}.html"'
    assert "sandbox allow-scripts" in html.headers["content-security-policy"]
    for tail in (".svg", ".png", ".card.png", ".html"):
        assert client.get(f"/s/{program.id}{tail}").headers["x-content-type-options"] == "nosniff"
    for tail in (".svg", ".png", ".card.png"):
        assert client.get(f"/s/{program.id}{tail}").headers["cross-origin-resource-policy"] == "cross-origin"


@pytest.mark.parametrize("tail", [".svg", ".card.png", ".film.gif", ".html"])
def test_a_picture_that_is_not_drawn_in_time_is_a_plain_one_and_is_drawn_on(
    tail: str, new_database: DatabaseFactory
) -> None:
    with visiting(new_database("sqlite"), **{**FREE, "picture_wait": 1e-6}) as client:
        program = saved(client, source=OVERWRITTEN)
        first = client.get(f"/s/{program.id}{tail}")
        if tail != ".html":  # nothing stands in for a file
            assert (first.status_code, first.headers["cache-control"]) == (202, "no-store")
            assert int(first.headers["retry-after"]) > 0 and "etag" not in first.headers
            if tail == ".svg":
                ET.fromstring(first.text)
            else:
                assert size(first.content) == (2400, 1260) and first.headers["content-type"] == "image/png"
        assert wait_until(lambda: client.get(f"/s/{program.id}{tail}").status_code == 200)
        assert client.get(f"/s/{program.id}{tail}").content != first.content or tail == ".html"


@pytest.mark.parametrize("tail", [".svg", ".png?step=0", ".html", ".card.png"])
def test_a_client_with_the_current_version_gets_304(client: TestClient, tail: str) -> None:
    program = saved(client, source=PROGRAM)
    answer = client.get(f"/s/{program.id}{tail}")
    again = client.get(f"/s/{program.id}{tail}", headers={"if-none-match": answer.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")
    assert answer.headers["etag"] != client.get(f"/s/{program.id}.json").headers["etag"], (
        "drawn by a version of the code"
    )


def test_a_removed_program_has_no_exports(new_database: DatabaseFactory) -> None:
    database = new_database("sqlite")
    with visiting(database, public_url=PUBLIC, **FREE) as client:
        program = saved(client, source=PROGRAM)
        assert client.get(f"/s/{program.id}.svg").status_code == 200
        client.portal.call(client.app.state.services.saved.store.remove_content, program.id)  # type: ignore[union-attr,attr-defined]
        for path in (
            f"/s/{program.id}.svg",
            f"/s/{program.id}.card.png",
            f"/s/{program.id}.html",
            f"/embed/{program.id}",
        ):
            assert client.get(path).status_code == 410, path
        assert code(client.get(f"/oembed?url={PUBLIC}/s/{program.id}"))[0] == 410


def test_pictures_have_a_limit_and_those_that_are_kept_do_not_count(new_database: DatabaseFactory) -> None:
    with visiting(new_database("sqlite"), public_url=PUBLIC, picture_limit="2/minute") as client:
        program = saved(client, source=PROGRAM)
        for _ in range(5):
            assert client.get(f"/s/{program.id}.svg?step=0").status_code == 200
        assert client.get(f"/s/{program.id}.svg?step=1").status_code == 200
        answer = client.get(f"/s/{program.id}.svg?step=2")
        assert code(answer) == (429, "limited") and int(answer.headers["retry-after"]) > 0
        assert client.get(f"/s/{program.id}.svg?step=1").status_code == 200


# ---- hostile texts


class Tags(HTMLParser):
    """The elements of a page, and the words of its title."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.title, self._inside = "", False
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        self._inside = tag == "title"

    def handle_endtag(self, tag: str) -> None:
        self._inside = self._inside and tag != "title"

    def handle_data(self, data: str) -> None:
        self.title += data if self._inside else ""


@pytest.fixture(scope="module")
def hostile(client: TestClient) -> str:
    words = {"title": HOSTILE, "description": HOSTILE, "note": HOSTILE}
    source = f"x = torch.ones(2)  # {HOSTILE[:-4]}\n名 = x\nprint({HOSTILE!r})\nprint(r'''{HOSTILE[:-4]}''')\n"
    program = saved(client, source=source, **words)
    assert program.title == HOSTILE
    return program.id


def test_hostile_texts_stay_texts_in_pictures(client: TestClient, hostile: str) -> None:
    count = len(client.get(f"/s/{hostile}.trace.json").json()["steps"])
    for query in ["", *(f"?step={i}" for i in range(count))]:
        names = {
            element.tag.removeprefix(SVG)
            for element in ET.fromstring(client.get(f"/s/{hostile}.svg{query}").text).iter()
        }
        assert not names & {"script", "image", "img", "foreignObject", "a", "use", "animate", "set"}
    assert size(client.get(f"/s/{hostile}.card.png").content) == (1200, 630)


@pytest.mark.parametrize("path", ["/s/{}.html", "/embed/{}", "/s/{}"])
def test_hostile_texts_stay_texts_in_pages(client: TestClient, hostile: str, path: str) -> None:
    page = Tags(client.get(path.format(hostile)).text)
    assert not [tag for tag, attrs in page.tags if tag == "img" or "onerror" in attrs]
    assert [tag for tag, _ in page.tags].count("title") == 1
    assert HOSTILE.split("\u2028")[0] in page.title
    for tag, attrs in page.tags:
        if tag == "script":
            assert (
                (attrs.get("src") or "").startswith("/box/static/")
                or attrs.get("type") == "application/json"
                or attrs.get("nonce")
            )


def test_hostile_texts_stay_texts_in_oembed_and_opengraph(client: TestClient, hostile: str) -> None:
    oembed = client.get(f"/oembed?url={PUBLIC}/s/{hostile}").json()
    assert oembed["title"] == HOSTILE
    frame = Tags(oembed["html"])
    assert [tag for tag, _ in frame.tags] == ["iframe"] and frame.tags[0][1]["title"] == HOSTILE
    page = Tags(client.get(f"/s/{hostile}").text)
    graph = {attrs.get("property"): attrs.get("content") for tag, attrs in page.tags if tag == "meta"}
    assert graph["og:title"] == graph["og:description"] == HOSTILE


# ---- frames


def test_only_pages_that_the_host_allows_may_frame_an_embed(client: TestClient, new_database: DatabaseFactory) -> None:
    program = saved(client, source=PROGRAM)
    answer = client.get(f"/embed/{program.id}")
    assert answer.headers["content-security-policy"].endswith("frame-ancestors *")
    assert "set-cookie" not in answer.headers
    assert client.get(f"/s/{program.id}").headers["content-security-policy"].endswith("frame-ancestors 'none'")
    with visiting(new_database("sqlite"), frames="https://forum.example.org") as other:
        program = saved(other, source=PROGRAM)
        policy = other.get(f"/embed/{program.id}").headers["content-security-policy"]
        assert policy.endswith("frame-ancestors https://forum.example.org")
        assert f'href="/s/{program.id}"' in other.get(f"/embed/{program.id}").text


@pytest.mark.parametrize("tail", [".svg", ".png", ".html", "embed"])
def test_a_304_has_the_headers_of_the_full_response(client: TestClient, tail: str) -> None:
    """A browser takes those of a 304 in place of the ones it has: a frame would be forbidden the next time."""
    program = saved(client, source=PROGRAM)
    path = f"/embed/{program.id}" if tail == "embed" else f"/s/{program.id}{tail}"
    answer = client.get(path)
    again = client.get(path, headers={"if-none-match": answer.headers["etag"]})
    assert again.status_code == 304
    for name in ("content-security-policy", "cross-origin-resource-policy", "cache-control", "etag"):
        assert bare(again.headers[name]) == bare(answer.headers[name]), name


def bare(header: str) -> str:
    """Without what is another each time."""
    return re.sub(r"'nonce-[^']*'", "", header)


def test_the_version_of_the_renderer_covers_every_file_that_is_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Otherwise a reader's browser would keep the old frame: it would hear that nothing changed."""
    shutil.copytree(ROOT / "templates", tmp_path / "templates")
    (tmp_path / "static/dist").mkdir(parents=True)
    monkeypatch.setattr(renderer_client, "PROJECT_FOLDER", tmp_path)
    versions = [Renderer(1).version]
    for name in ("exports.js", "embed.js", *offline_files()):
        shutil.copy(ROOT / "static/dist" / name, tmp_path / "static/dist")
    for name in (
        "static/dist/exports.js",
        "static/dist/embed.js",
        "static/dist/style.css",
        "static/dist/offline.list.zh.js",
        "templates/partials/_offline.html",
        "templates/partials/_viewer.html",
        "templates/embed.html",
    ):
        versions.append(Renderer(1).version)
        with (tmp_path / name).open("a") as file:
            file.write("\n")
    versions.append(Renderer(1).version)
    assert versions[0] == "" and len(set(versions)) == len(versions)


def test_the_frame_can_run_and_save_nothing(client: TestClient) -> None:
    program = saved(client, source=PROGRAM, title="clone")
    page = Tags(client.get(f"/embed/{program.id}").text)
    assert "form" not in [tag for tag, _ in page.tags]
    assert [attrs["src"] for tag, attrs in page.tags if tag == "script" and "src" in attrs] == [
        "/box/static/dist/embed.js"
    ]
    assert not {"run-button", "save", "editor"} & {attrs.get("id") for _, attrs in page.tags}


def test_oembed_gives_the_size_and_address_of_the_frame(client: TestClient) -> None:
    program = saved(client, source=PROGRAM, title="clone & detach")
    url = f"{PUBLIC}/s/{program.id}%23i=2%26v=loom"
    oembed = client.get(f"/oembed?url={url}&maxwidth=500&maxheight=400&format=json").json()
    assert (oembed["version"], oembed["type"], oembed["width"], oembed["height"]) == ("1.0", "rich", 500, 400)
    assert oembed["thumbnail_url"] == f"{PUBLIC}/s/{program.id}.card.png"
    frame = Tags(oembed["html"]).tags[0][1]
    assert (frame["src"], frame["width"], frame["height"]) == (f"{PUBLIC}/embed/{program.id}#i=2&v=loom", "500", "400")
    page = Tags(client.get(f"/s/{program.id}").text)
    (link,) = [attrs for tag, attrs in page.tags if tag == "link" and attrs.get("type") == "application/json+oembed"]
    assert link["href"] is not None and link["href"].startswith(PUBLIC)
    assert client.get(link["href"].removeprefix(PUBLIC)).json()["title"] == "clone & detach"
    graph = {attrs.get("property"): attrs.get("content") for tag, attrs in page.tags if tag == "meta"}
    assert graph["og:url"] == f"{PUBLIC}/s/{program.id}"
    image = client.get(str(graph["og:image"]).removeprefix(PUBLIC))
    assert size(image.content) == (int(str(graph["og:image:width"])), int(str(graph["og:image:height"])))


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("https://elsewhere.example.org/box/s/7kd5h2n9xt", (404, "not_ours")),
        ("https://gradbox.example.org/s/7kd5h2n9xt", (404, "not_ours")),
        (f"{PUBLIC}evil/s/7kd5h2n9xt", (404, "not_ours")),
        (f"{PUBLIC}/gallery", (404, "not_ours")),
        (f"{PUBLIC}/s/7kd5h2n9xt", (404, "no_scenario")),
        ("http://[", (404, "not_ours")),
        ("", (404, "not_ours")),
    ],
)
def test_oembed_answers_only_for_our_own_addresses(client: TestClient, url: str, expected: tuple[int, str]) -> None:
    assert code(client.get("/oembed", params={"url": url})) == expected


@pytest.mark.parametrize("tail", ["", "/", "?lang=zh", "/?lang=zh&utm_source=a"])
@pytest.mark.parametrize("kind", ["s", "embed"])
def test_oembed_knows_a_permalink_however_it_was_copied(client: TestClient, kind: str, tail: str) -> None:
    program = saved(client, source=PROGRAM)
    oembed = client.get("/oembed", params={"url": f"{PUBLIC}/{kind}/{program.id}{tail}#i=2"}).json()
    assert Tags(oembed["html"]).tags[0][1]["src"] == f"{PUBLIC}/embed/{program.id}#i=2"


def test_the_parts_of_a_fragment_that_a_frame_takes_are_kept(client: TestClient) -> None:
    program = saved(client, source=PROGRAM)
    oembed = client.get("/oembed", params={"url": f"{PUBLIC}/s/{program.id}#i=2&at=node%3An1&v=loom&p=abc"}).json()
    assert Tags(oembed["html"]).tags[0][1]["src"] == f"{PUBLIC}/embed/{program.id}#i=2&at=node%3An1&v=loom"


def test_an_unknown_fragment_is_left_out(client: TestClient) -> None:
    program = saved(client, source=PROGRAM)
    for fragment in ('i=2"><script>', "p=abc", "i=", "javascript:1"):
        oembed = client.get("/oembed", params={"url": f"{PUBLIC}/s/{program.id}#{fragment}"}).json()
        assert Tags(oembed["html"]).tags[0][1]["src"] == f"{PUBLIC}/embed/{program.id}"


def test_a_server_without_a_public_url_offers_no_oembed_or_preview(new_database: DatabaseFactory) -> None:
    with visiting(new_database("sqlite")) as client:
        program = saved(client, source=PROGRAM, title="clone")
        assert code(client.get(f"/oembed?url=http://127.0.0.1:8000/s/{program.id}")) == (501, "no_address")
        text = client.get(f"/s/{program.id}").text
        assert 'property="og:title" content="clone"' in text
        assert "og:image" not in text and "oembed" not in text and "http://127.0.0.1" not in text
    with visiting(new_database("sqlite"), public_url=PUBLIC, **FREE) as client:
        assert code(client.get(f"/oembed?url={PUBLIC}/s/7kd5h2n9xt&format=xml")) == (501, "not_implemented")


@pytest.mark.slow
def test_a_large_picture_folds_its_rows_or_says_that_it_was_cut(client: TestClient) -> None:
    program = saved(client, source="xs = [torch.full((3,), float(i)) for i in range(800)]\ny = xs[750]\ny += 1\n")
    picture = ET.fromstring(client.get(f"/s/{program.id}.svg").text)
    assert picture.attrib["class"] == "loom-svg" and int(picture.attrib["width"]) < 1300, "its columns are bounded"
    step = ET.fromstring(client.get(f"/s/{program.id}.svg?step=3").text)
    assert int(step.attrib["height"]) < 17_000
    assert any("data-fold" in element.attrib for element in step.iter()), "what was left alone is counted"
    cells = {
        element.attrib["data-cell"]: element.attrib["data-value"]
        for element in step.iter()
        if "data-cell" in element.attrib
    }
    assert len(cells) < 1300 and "751" in cells.values(), "what the step wrote is shown"
    assert size(client.get(f"/s/{program.id}.png?step=3").content)[1] <= 16_000
    small = ET.fromstring(client.get(f"/s/{saved(client, source=PROGRAM).id}.svg").text)
    assert small.attrib["class"] == "loom-svg" and "goes on" not in "".join(small.itertext())
